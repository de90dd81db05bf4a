#include "model/cost/kernel_lists.hpp"
#include "model/cost/kernel_writer.hpp"

#include <algorithm>
#include <span>

namespace sextant {
namespace {

// GPT-OSS's gate where no kernel has it whole: what is written and read, in elements for each of the result.
struct GatePart {
    double forward, backward;
};
constexpr GatePart gate_by_function[] = {
    {12, 12},  // a bias for each expert, times the router's weight, added and put together again; backward with its sum
    {4, 12},   // two limits; backward with their masks
    {7, 14},   // x sigmoid(1.702 x)
    {5, 6},    // + 1, and the product
    {6, 11},   // times the router's weight in FP32, and back
    {0, 8},    // gradients of the halves put together
};
// NVIDIA/Megatron-LM, weighted_bias_quick_geglu_impl and _apply_bias.
constexpr GatePart gate_with_limits_apart[] = {
    {2 + 5 + 4 + 3, 3 + 5 + 12},  // the bias in FP32, times the router's weight, added, put together, narrowed; backward widened,
                                  // narrowed and put together, and the gradients of bias and weight
    {4, 11},                      // two limits; backward with their masks
    {4, 4},                       // halves put together
    {3, 5 + 3},                   // the gate; backward with the sum of its rows
};

}  // namespace

void KernelWriter::add_wide(const std::string& name, TensorId operand, double forward_passes, double backward_passes, int backward_launches,
                            BlockKernels& out) const {
    const double elements = graph_.tensor(operand).elements();
    const Bytes narrow = size_of(plan_.precision.activation), wide = runs_in_fp32() ? size_of(DataType::fp32) : narrow;
    push_memory(out.forward, name, forward_passes * elements * wide, false);
    push_memory(out.backward, name, backward_passes * elements * wide, true, backward_launches);
    if (!runs_in_fp32()) return;
    push_memory(out.forward, name + ".cast", 2 * elements * (narrow + wide), false, 2);
    push_memory(out.backward, name + ".cast", 2 * elements * (narrow + wide), true, 2);
}

void KernelWriter::write_operator(const Operator& op, const Normalization& n, BlockKernels& out) const {
    if (n.kind == NormKind::batch) {
        // Training reads its input for the statistics and again to normalize, inference has these already; backward likewise for two
        // operands.
        const Bytes x = bytes_of(op.inputs.front());
        const int apply = framework_.plain_kernels ? 1 : 0;  // else one kernel does both
        const bool measures = !plan_.forward_only && !plan_.frozen_batch_norm;
        push_memory(out.forward, op.name, (measures ? 2.0 : 1.0) * x + output_bytes(op), false, sum_launches() + apply);
        wait(out.forward.back(), measures ? waits_of_sums : 0);
        if (plan_.frozen_batch_norm)
            return push_memory(out.backward, op.name, framework_.frozen_batch_norm_passes.value * x, true,
                               framework_.frozen_batch_norm_kernels);
        push_memory(out.backward, op.name, 5.0 * x, true, sum_launches() + 2 * apply);  // the means of groups are a kernel of their own
        wait(out.backward.back(), waits_of_sums);
    } else if (framework_.plain_kernels) {
        // Backward measures rows again whose statistics were not kept, sums over them for the gain, and reads all once more for the
        // gradient of what came in.
        const int again = op.outputs.size() > 1 ? 0 : 1, operands = n.gated ? 2 : 1;
        add_wide(op.name, op.inputs.front(), operands + 1, operands * (3 + again) + 2, sum_launches() + 1 + again, out);
        wait(out.forward.back(), waits_of_row);
        wait(out.backward.back(), waits_of_sums + (1 + again) * waits_of_row);
    } else if (framework_.composes_functions && n.kind == NormKind::rms && !n.gated) {
        write_norm_in_passes(op, out);
    } else {
        // The gate is read as well, and its gradient written; the gain's gradient is reduced by a second kernel.
        add_wide(op.name, op.inputs.front(), n.gated ? 3 : 2, n.gated ? 5 : 3, 2, out);
    }
}

void KernelWriter::write_operator(const Operator& op, const SequenceConvolution&, BlockKernels& out) const {
    push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false);
    push_memory(out.backward, op.name, 2.0 * input_bytes(op) + output_bytes(op), true);
}

void KernelWriter::write_operator(const Operator& op, const Softmax&, BlockKernels& out) const {
    if (!runs_in_fp32() || plan_.precision.activation != DataType::fp16) return add_wide(op.name, op.inputs.front(), 2, 3, 1, out);
    // PyTorch's softmax widens FP16 as it reads it, and narrows its gradient as it writes it. The casts on the other side are left.
    const double elements = graph_.tensor(op.inputs.front()).elements();
    const Bytes narrow = size_of(DataType::fp16), wide = size_of(DataType::fp32);
    push_memory(out.forward, op.name, elements * (narrow + wide), false);
    push_memory(out.forward, op.name + ".cast", elements * (wide + narrow), false);
    push_memory(out.backward, op.name, elements * (2.0 * wide + narrow), true);
    push_memory(out.backward, op.name + ".cast", elements * (narrow + wide), true);
}

void KernelWriter::write_gate_in_passes(const Operator& op, ClampedGate fused, BlockKernels& out) const {
    const bool limits_apart = fused == ClampedGate::limits_apart;
    GatePart all{};
    for (const GatePart& part : limits_apart ? std::span<const GatePart>(gate_with_limits_apart) : gate_by_function) {
        all.forward += part.forward;
        all.backward += part.backward;
    }
    push_memory(out.forward, op.name, all.forward * output_bytes(op), false, limits_apart ? 8 : 14);
    push_memory(out.backward, op.name, all.backward * output_bytes(op), true, limits_apart ? 17 : 26);
}

// An RMS norm of PyTorch's functions (transformers, LlamaRMSNorm), which widens 16 bits and narrows them again. Passes of the wide type:
// its square 2, the mean of these 1, times the reciprocal root 2; of the narrow one: times the gain 2. Backward, wide: times the reciprocal
// root 2, times the input 3 and the sum of these 1, the gradient of the square 2, added 3; narrow: times the gain 2, times what was
// normalized 3 and its sum over rows 1.
void KernelWriter::write_norm_in_passes(const Operator& op, BlockKernels& out) const {
    const double elements = graph_.tensor(op.inputs.front()).elements();
    const Bytes narrow = size_of(plan_.precision.activation), wide = size_of(DataType::fp32);
    const Bytes casts = narrow < wide ? 2.0 * (narrow + wide) : Bytes{};
    push_memory(out.forward, op.name, elements * (5.0 * wide + 2.0 * narrow + casts), false, 8);
    push_memory(out.backward, op.name, elements * (11.0 * wide + 6.0 * narrow + casts), true, 14);
}

// In passes over the result of a gate: forward the activation 2 and the product 3; backward the gradients of both operands of the product
// and of the activation, 3 each. In passes over queries and keys (transformers, apply_rotary_pos_emb): forward halves turned 3, two
// products 4, their sum 3; backward the same, and slices filled up with zeros 2.
void KernelWriter::write_in_passes(const Operator& op, const Pointwise& p, BlockKernels& out) const {
    const bool gate = p.kind == PointwiseKind::gate;
    const int tensors = gate ? 1 : static_cast<int>(op.outputs.size());
    const Bytes pass = output_bytes(op);
    push_memory(out.forward, op.name, (gate ? 5.0 : 10.0) * pass, false, (gate ? 2 : 5) * tensors);
    push_memory(out.backward, op.name, (gate ? 9.0 : 12.0) * pass, true, (gate ? 3 : 7) * tensors);
}

void KernelWriter::write_operator(const Operator& op, const Pointwise& p, BlockKernels& out) const {
    const bool compiled = framework_.fusion_in(plan_.precision.compute) == Fusion::compiler;
    const ClampedGate gate = compiled ? ClampedGate::whole : framework_.clamped_gate;
    if (p.kind == PointwiseKind::clamped_gate && gate != ClampedGate::whole) return write_gate_in_passes(op, gate, out);
    if (framework_.composes_functions && (p.kind == PointwiseKind::gate || p.kind == PointwiseKind::rotary))
        return write_in_passes(op, p, out);
    if (p.kind == PointwiseKind::view) return push_memory(out.backward, op.name, input_bytes(op) + output_bytes(op), true);
    if (inside_products_[op.outputs.front().value]) return push_memory(out.backward, op.name, input_bytes(op), true);
    // Plain: a table of angles, then queries and keys by a kernel each.
    const int launches = framework_.plain_kernels && p.kind == PointwiseKind::rotary ? static_cast<int>(op.outputs.size()) + 1 : 1;
    if (p.in_place && framework_.composes_functions && !saved_for_backward(op).empty() && saved_for_backward(op) == op.inputs)
        push_memory(out.forward, op.name + ".kept", input_bytes(op) + output_bytes(op), false);
    push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false, launches);
    switch (p.kind) {
        case PointwiseKind::add:  // gradients pass through; sums at forks are counted at the fork
            if (op.is_trained()) add_bias_gradient(op.name, output_bytes(op), out);
            return;
        case PointwiseKind::bias: return add_bias_gradient(op.name, output_bytes(op), out);
        case PointwiseKind::dropout:  // gradient and mask in, gradient out
        case PointwiseKind::scale:
        case PointwiseKind::mask:
        case PointwiseKind::cast:
        case PointwiseKind::copy:
        case PointwiseKind::repeat:
        case PointwiseKind::interpolate:
        case PointwiseKind::rotary: return push_memory(out.backward, op.name, input_bytes(op) + output_bytes(op), true, launches);
        default: return push_memory(out.backward, op.name, 2.0 * input_bytes(op) + output_bytes(op), true);
    }
}

void KernelWriter::write_operator(const Operator& op, const Pooling& p, BlockKernels& out) const {
    const bool all = p.kind == PoolingKind::global_average;
    push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false, all ? sum_launches() : 1);
    if (all) wait(out.forward.back(), waits_of_sums);
    push_memory(out.backward, op.name, input_bytes(op) + 2.0 * output_bytes(op), true);
    if (!framework_.finds_largest_again || p.kind != PoolingKind::max) return;
    // Where the largest of each window is, as a number of 32 bits, is looked for first. (oneDNN makes the result again meanwhile, and
    // notes a byte.)
    const Bytes where = graph_.tensor(op.outputs.front()).elements() * size_of(DataType::fp32);
    push_memory(out.backward, op.name + ".largest", input_bytes(op) + 2.0 * where - output_bytes(op), true);
}

void KernelWriter::write_operator(const Operator& op, const Embedding& e, BlockKernels& out) const {
    push_memory(out.forward, op.name, 2.0 * output_bytes(op), false);
    if (framework_.plain_kernels) {
        // Which tokens are of one id is found out first; their sum is added to its row.
        const double rows = static_cast<double>(std::min(e.tokens, e.rows));
        const Bytes added = 2.0 * rows * static_cast<double>(e.width) * size_of(plan_.precision.gradient_type());
        return push_weight_gradient(out.backward, op.name, output_bytes(op) + added, 2);
    }
    // The gradient of the table is dense: cleared, here or with all others by the update, then rows are added into it.
    const Bytes table = static_cast<double>(e.rows * e.width) * size_of(plan_.precision.gradient_type());
    const bool cleared = framework_.accumulates_from_first;
    push_weight_gradient(out.backward, op.name, (cleared ? Bytes{} : table) + 3.0 * output_bytes(op), cleared ? 1 : 2);
}

void KernelWriter::write_operator(const Operator& op, const CrossEntropy& c, BlockKernels& out) const {
    const double logits = static_cast<double>(c.rows) * static_cast<double>(c.classes);
    const Bytes stored = input_bytes(op);
    if (framework_.fused_cross_entropy) {
        constexpr double backward = 2;
        push_memory(out.forward, op.name, (framework_.fused_loss_passes.value - backward) * stored, false);
        wait(out.forward.back(), waits_of_row);
        if (framework_.plain_kernels && c.classes > 1024) out.forward.back().in_flight = in_flight_of_row;
        push_memory(out.backward, op.name, backward * stored, true);
        return;
    }
    // An fp32 copy of the logits is made, exponentiated and summed in passes of its own.
    const Bytes wide = logits * size_of(DataType::fp32);
    push_memory(out.forward, op.name, stored + 4.0 * wide, false, 4);
    push_memory(out.backward, op.name, 3.0 * wide + stored, true, 3);
}

// A dispatcher that sends a token once takes it from where it lies: the receiver puts its copies in order, and adds up what comes back
// (deepseek-ai/DeepEP, `dispatch` and `combine`; Megatron Core's _HybridEPManager).
void KernelWriter::write_operator(const Operator& op, const TokenPermute&, BlockKernels& out) const {
    if (plan_.ep > 1 && deduplicates_tokens(plan_, framework_)) return;
    push_memory(out.forward, op.name, input_bytes(op) + output_bytes(op), false, 2);
    push_memory(out.backward, op.name, input_bytes(op) + output_bytes(op), true, 2);
}

}  // namespace sextant
