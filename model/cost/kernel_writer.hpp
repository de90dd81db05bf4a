// Walks the operators of one block and appends what they launch. For kernel.cpp, matrix_kernels.cpp,
// plain_kernels.cpp and pass_kernels.cpp.
#pragma once

#include "model/cost/fusion.hpp"
#include "model/cost/kernel_lists.hpp"
#include "model/cost/scans.hpp"
#include "model/plan/framework_defaults.hpp"

#include <string>
#include <vector>

namespace sextant {

// Threads of plain kernels load four elements of a row at a time where others load eight (Kernel::in_flight).
constexpr double in_flight_of_row = 0.5;
// How often plain kernels wait for memory beyond one read, compute and write: sums over rows or pixels, made in parts that are then summed;
// rows whose lanes agree on a largest value, a mean or a sum; filters that are laid out anew and back. In multiples of the latency of a
// load, fitted to kernels with next to nothing to move on an H200 (docs/model/compute.md).
constexpr double waits_of_sums = 10, waits_of_row = 3, waits_of_filters = 2, waits_of_filter_gradients = 8;

// The block, the plan and the framework, with what the rules below derive from them once. `wide`: writes the same block in FP32, for
// operators that run on copies; none where none does.
class KernelWriter {
public:
    KernelWriter(const OperatorGraph&, BlockRole, const Plan&, const Framework&, bool reads_data, ComputeUnit,
                 const KernelWriter* wide = nullptr);

    void write(BlockKernels& out) const;

private:
    // kernel.cpp: the order of what runs
    [[nodiscard]] BlockKernels write_chain(const FusedChain& chain) const;
    [[nodiscard]] bool is_widened(const Operator&) const;
    void add_conversions(const Operator&, BlockKernels& out) const;
    void add_work(const FusedChain& chain, bool backward, std::vector<Kernel>& kernels) const;
    void prepare_chain(const FusedChain& chain, BlockKernels& out) const;
    [[nodiscard]] Bytes chain_bytes(const FusedChain& chain, bool backward) const;
    [[nodiscard]] Bytes exchange_bytes(const Operator& op, const Exchange& e, ExchangeKind kind, TensorId gathered) const;
    void write_operator(const Operator& op, const Exchange& e, BlockKernels& out) const;
    void add_gradient_sum(TensorId id, std::vector<Kernel>& list) const;
    void finish_weight_gradient(const Operator& op, std::vector<Kernel>& list) const;

    // matrix_kernels.cpp: products, convolutions, attention
    [[nodiscard]] Kernel gemm(const std::string& name, const ProductShape&, DataType, bool backward) const;
    void write_operator(const Operator& op, const Gemm& g, BlockKernels& out) const;
    void add_quantization(const Operator& op, BlockKernels& out) const;
    [[nodiscard]] Kernel convolution(const Operator& op, const Convolution& c) const;
    [[nodiscard]] static Kernel image_gradient(const Kernel& forward, const Convolution& c);
    [[nodiscard]] Kernel filter_gradient(const Kernel& forward) const;
    [[nodiscard]] bool multiplies_16_bits() const { return size_of(product_type_) == Bytes::from_si(2); }
    [[nodiscard]] bool filter_gradients_on_vector_units() const { return framework_.vector_filter_gradients && multiplies_16_bits(); }
    [[nodiscard]] bool is_made_as_product(const Convolution&) const;
    void add_filter_layouts(const Operator& op, const Convolution& c, bool makes_image_gradient, BlockKernels& out) const;
    void add_image_layouts(const Operator& op, bool makes_image_gradient, BlockKernels& out) const;
    void write_operator(const Operator& op, const Convolution& c, BlockKernels& out) const;
    void write_operator(const Operator& op, const Attention& a, BlockKernels& out) const;
    [[nodiscard]] Bytes bytes_to_accumulate() const;
    void accumulate(Kernel& of_weight) const;
    void add_weight_gradient(const Operator& op, const Gemm& g, std::int64_t columns, DataType type, Bytes gradients,
                             BlockKernels& out) const;
    void add_bias_gradient(const std::string& name, Bytes gradients, BlockKernels& out) const;

    // plain_kernels.cpp
    void write_products(const Operator& op, const Gemm& g, DataType type, BlockKernels& out) const;
    void share_among_calls(const Operator& op, const Gemm& g, BlockKernels& out) const;
    void write_scores(const Operator& op, const Attention& a, BlockKernels& out) const;
    // Launches of a sum over rows or pixels. Plain kernels sum parts, then the parts, then use the result.
    [[nodiscard]] int sum_launches() const { return framework_.plain_kernels ? 3 : 1; }
    void wait(Kernel& k, double times) const {
        if (framework_.plain_kernels) k.waits += times;
    }

    // pass_kernels.cpp: what reads and writes its operands, and computes little
    void add_wide(const std::string& name, TensorId operand, double forward_passes, double backward_passes, int backward_launches,
                  BlockKernels& out) const;
    void write_operator(const Operator& op, const Normalization& n, BlockKernels& out) const;
    void write_operator(const Operator& op, const SequenceConvolution&, BlockKernels& out) const;
    void write_operator(const Operator& op, const Softmax&, BlockKernels& out) const;
    void write_gate_in_passes(const Operator& op, ClampedGate fused, BlockKernels& out) const;
    void write_norm_in_passes(const Operator& op, BlockKernels& out) const;
    void write_in_passes(const Operator& op, const Pointwise& p, BlockKernels& out) const;
    void write_operator(const Operator& op, const Pointwise& p, BlockKernels& out) const;
    void write_operator(const Operator& op, const Pooling&, BlockKernels& out) const;
    void write_operator(const Operator& op, const Embedding& e, BlockKernels& out) const;
    void write_operator(const Operator& op, const CrossEntropy& c, BlockKernels& out) const;
    void write_operator(const Operator& op, const TokenPermute&, BlockKernels& out) const;

    // state_space.cpp, delta_rule.cpp
    void write_operator(const Operator& op, const Scan auto& s, BlockKernels& out) const {
        add_scan(op, s, unnarrowed_type_, plan_.precision, out);
    }

    [[nodiscard]] Bytes bytes_of(TensorId id) const {
        const Tensor& t = graph_.tensor(id);
        return t.elements() * element_size(t.role, plan_.precision);
    }
    [[nodiscard]] Bytes sum_bytes(const std::vector<TensorId>& ids) const {
        Bytes sum;
        for (const TensorId id : ids) sum += bytes_of(id);
        return sum;
    }
    [[nodiscard]] Bytes input_bytes(const Operator& op) const { return sum_bytes(op.inputs); }
    [[nodiscard]] Bytes output_bytes(const Operator& op) const { return sum_bytes(op.outputs); }
    // Whether backward reaches the chain: not where only frozen parameters come before it. Each operator
    // of a chain reads the one before it.
    [[nodiscard]] bool is_differentiated(const FusedChain& chain) const {
        return wanted_[graph_.operators()[chain.operators.back()].outputs.front().value];
    }
    // Whether the gradient of what the operator reads is needed. An operator of two operands needs both or neither.
    [[nodiscard]] bool wants_gradient(const Operator& op) const { return !op.inputs.empty() && wanted_[op.inputs.front().value]; }
    // Autocast runs softmax and layer normalization in fp32: their operand is cast up before and down after, both ways
    // (PyTorch documentation, torch.amp, "CUDA ops that can autocast to float32").
    [[nodiscard]] bool runs_in_fp32() const {
        return casts_each_use(plan_, framework_) && size_of(plan_.precision.activation) < size_of(DataType::fp32);
    }
    // Autocast keeps fp32 weights: each forward casts them down, each backward casts their gradients up.
    [[nodiscard]] bool casts_weights() const {
        return casts_each_use(plan_, framework_) && size_of(plan_.precision.compute) < size_of(plan_.precision.parameter);
    }
    // MXFP8 and NVFP4 have one scale for several values of a row, so what is read along rows and along columns is narrowed twice.
    [[nodiscard]] bool narrows_in_blocks() const { return product_type_ == DataType::mxfp8 || product_type_ == DataType::nvfp4; }
    [[nodiscard]] Bytes cast_bytes() const { return size_of(plan_.precision.parameter) + size_of(plan_.precision.compute); }
    // Whether a micro-batch adds its gradients to those of earlier ones. Where the first one does too, the
    // rate of a core's products covers it.
    [[nodiscard]] bool later_micro_batches_add() const {
        return framework_.plain_kernels || (plan_.micro_batches() > 1 && !framework_.accumulates_from_first);
    }

    const OperatorGraph& graph_;
    BlockRole role_;
    const Plan& plan_;
    const Framework& framework_;
    ComputeUnit unit_;
    const KernelWriter* wide_;
    DataType product_type_, unnarrowed_type_;
    std::vector<int> readers_;
    std::vector<FusedChain> chains_;
    std::vector<std::vector<std::size_t>> gathered_again_;
    std::vector<bool> inside_products_, wanted_;
    std::vector<double> narrowed_parts_;
    std::vector<bool> recomputed_;  // by operator
};

}  // namespace sextant
