// From operators to kernels: what one device launches for one block in forward, backward and recompute.
//
// The framework decides which operators share a kernel; the precision policy decides how wide each tensor is. Times are in compute.hpp.
#pragma once

#include "model/base/quantity.hpp"
#include "model/hardware/device.hpp"
#include "model/plan/framework.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/network.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// What a convolution reads of its image for one output pixel.
enum class Window : std::uint8_t {
    pixel,     // 1 x 1
    winograd,  // 3 x 3 of stride 1: on vector units libraries multiply less than `flops`
    other,
};

enum class KernelKind {
    gemm,         // m x n x k, `batch` of them
    convolution,  // as an implicit GEMM: m = pixels, n = output channels, k = input channels x window
    attention,    // fused softmax(QK^T)V
    memory,       // bound by bytes: elementwise, normalization, softmax, copies, optimizer
};

struct Kernel {
    KernelKind kind = KernelKind::memory;
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    DataType type = DataType::fp32;  // of the multiplied operands
    Flops flops;                     // matrix work
    Bytes bytes;                     // read and written, at least
    Bytes epilogue;                  // the part of these that a tile moves after its arithmetic
    double exponentials = 0;         // arithmetic on elements, as a multiple of one exponential (elementwise.hpp)
    double computed = 1;             // fused attention: scores that a core computes for each that counts (elementwise.hpp)
    int launches = 1;
    bool direct = false;  // a depthwise or narrow grouped convolution: on vector units, not as a matrix product
    Window window = Window::pixel;
    bool strided = false;       // a convolution that skips pixels of its input
    std::int64_t channels = 0;  // of a convolution: channels in each group of the image that it reads
    double in_flight = 1;       // loads of a thread that are under way at a time, over those that `bytes_in_flight` counts
    double waits = 0;           // plain kernels: waits for memory, one after the other, beyond the one of every kernel
    double outputs = 0;         // of a convolution that a library has no kernel of its own for: a multiprocessor makes one output a clock
    bool turned = false;        // a product that reads both operands down their columns: rows are m and n long, not n and k
    bool backward = false;
    bool weight_gradient = false;  // makes only the gradient of a weight, which no earlier block waits for
    bool adds_gradients = false;   // only adds gradients to those of earlier micro-batches
    std::string name;              // of the (first) operator
    // The index of that operator in the graph of the block; none for a sum of the gradients that several operators leave.
    std::optional<int> op{};
};

struct ExchangeCall {
    ExchangeKind kind = ExchangeKind::all_reduce;
    ParallelGroup group = ParallelGroup::tensor;
    Bytes bytes;
    std::size_t after = 0;         // how many kernels of its phase run before it
    bool weight_gradient = false;  // gathers an input that only weight gradients need again
    double copies = 1, reach = 1;  // as in Exchange
};

// The weights of products in a layer, `count` of them alike.
struct WeightMatrix {
    std::int64_t count = 1, rows = 1, columns = 1;
    bool expert = false;
    [[nodiscard]] bool is_like(const WeightMatrix& other) const { return rows == other.rows && columns == other.columns; }
    [[nodiscard]] double parameters() const { return static_cast<double>(count) * static_cast<double>(rows * columns); }
};

// Everything one device does for one block and one micro-batch. Each list is in the order in which it runs: backward from the last
// operator to the first.
struct BlockKernels {
    std::vector<Kernel> forward, backward, recompute;
    std::vector<ExchangeCall> forward_exchanges, backward_exchanges, recompute_exchanges;
    Bytes saved;    // activations kept from forward to backward, logits apart
    Bytes dropped;  // dropped by selective recompute and made again during backward
    Bytes saved_logits;
    Bytes kept_input;  // the input of the block: all that full recompute keeps
    Bytes made_again;  // what full recompute makes again from it
    // Where gradients of activations are counted: the most that backward holds beside what was kept, and with full recompute.
    Bytes in_backward, in_backward_again;
    ParameterCount trained, frozen;
    ParameterCount narrowed;  // the part of both that products in FP8 or narrower read
    int trained_tensors = 0;
    Bytes boundary;  // activations handed to the next block
    Bytes alive;     // the largest set of tensors alive at once where nothing is kept for a backward
    Flops forward_flops, backward_flops;
    std::vector<WeightMatrix> matrices;      // of a layer, trained; where the optimizer treats them apart
    std::vector<WeightMatrix> placeholders;  // trained, of which autograd gets placeholders instead of gradients
};

// The bytes of a stored element under the policy.
Bytes element_size(TensorRole, const Precision&);

// Input and head blocks multiply in the activation type even where the policy says fp8 or narrower, and are never recomputed. `reads_data`:
// the block is the first, and the gradient of its input is not needed. `unit`: what multiplies; tensor units need the channels of a pixel
// to lie together.
BlockKernels block_kernels(const OperatorGraph&, BlockRole, const Plan&, const Framework&, bool reads_data = false,
                           ComputeUnit unit = ComputeUnit::vector);

}  // namespace sextant
