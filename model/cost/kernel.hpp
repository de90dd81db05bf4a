// From operators to kernels: what one device launches for one block in forward, backward and recompute.
//
// The framework decides which operators share a kernel; the precision policy decides how wide each tensor is. No time here.
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
    winograd,  // 3 x 3 of stride 1: libraries multiply less than `flops` on vector units
    other,
};

enum class KernelKind {
    gemm,         // m x n x k, `batch` of them
    convolution,  // as an implicit GEMM: m = pixels, n = output channels, k = input channels x window
    attention,    // fused softmax(QK^T)V
    memory,       // bound by bytes: elementwise, normalisation, softmax, copies, optimizer
};

struct Kernel {
    KernelKind kind = KernelKind::memory;
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    DataType type = DataType::fp32;  // of the multiplied operands
    Flops flops;                     // matrix work
    Bytes bytes;                     // read and written, at least
    Bytes epilogue;                  // of these, what a tile moves when its arithmetic is done
    double exponentials = 0;         // arithmetic on elements, in so many times that of one exponential (elementwise.hpp)
    double computed = 1;             // of fused attention: scores that a core computes for each that counts (elementwise.hpp)
    int launches = 1;
    bool direct = false;  // depthwise and narrow grouped convolutions: vector units, no matrix product
    Window window = Window::pixel;
    bool strided = false;       // a convolution that skips pixels of its input
    std::int64_t channels = 0;  // of a pixel of the image that a convolution reads, for each group
    double in_flight = 1;       // elements that a thread asks memory for at a time, in those that `bytes_in_flight` counts
    double waits = 0;           // of plain kernels: for memory, one after the other, beside the one that every kernel has
    double outputs = 0;   // of a convolution of images for which a library has no kernel of its own: a multiprocessor makes one a clock
    bool turned = false;  // a product whose operands are both read down their columns: rows are m and n long, not n and k
    bool backward = false;
    bool weight_gradient = false;  // of a weight alone: nothing that runs before in the network waits for it
    bool adds_gradients = false;   // and nothing else: to those of earlier micro-batches
    std::string name;              // of the (first) operator
    // That operator, in the graph of the block; none of what adds up the gradients that several operators leave.
    std::optional<int> op{};
};

struct ExchangeCall {
    ExchangeKind kind = ExchangeKind::all_reduce;
    ParallelGroup group = ParallelGroup::tensor;
    Bytes bytes;
    std::size_t after = 0;         // kernels of its phase that run before it
    bool weight_gradient = false;  // gathers an input that weight gradients alone need again
    double copies = 1, reach = 1;  // as in Exchange
};

// Everything one device does for one block and one micro-batch. Each list is in the order in which it runs: backward from the last
// operator to the first.
struct BlockKernels {
    std::vector<Kernel> forward, backward, recompute;
    std::vector<ExchangeCall> forward_exchanges, backward_exchanges, recompute_exchanges;
    Bytes saved;    // activations kept from forward to backward, logits apart
    Bytes dropped;  // by selective recompute, and made again during backward
    Bytes saved_logits;
    Bytes logits_gradient;  // beside them while backward begins, where it does not replace them
    Bytes kept_input;       // of the block: all that full recompute keeps
    Bytes working;          // largest set of tensors alive inside the block while it runs again
    ParameterCount trained, frozen;
    ParameterCount narrowed;  // of both, the weights that products in FP8 or narrower read
    int trained_tensors = 0;
    Bytes boundary;  // activations handed to the next block
    Bytes alive;     // largest set of tensors alive at once where nothing is kept for a backward
    Flops forward_flops, backward_flops;
};

// How wide an element is stored under the policy.
Bytes element_size(TensorRole, const Precision&);

// Input and head blocks multiply in the activation type although the policy says fp8 or narrower, and have no checkpoint. `reads_data`: the
// block is the first, and nobody wants the gradient of what it reads. `unit` multiplies: tensor units want the channels of a pixel
// together.
BlockKernels block_kernels(const OperatorGraph&, BlockRole, const Plan&, const Framework&, bool reads_data = false,
                           ComputeUnit unit = ComputeUnit::vector);

}  // namespace sextant
