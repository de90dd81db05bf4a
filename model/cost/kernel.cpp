#include "model/cost/kernel.hpp"

#include "model/cost/elementwise.hpp"
#include "model/cost/kernel_lists.hpp"
#include "model/cost/kernel_rules.hpp"
#include "model/cost/kernel_writer.hpp"
#include "model/plan/recompute.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace sextant {
KernelWriter::KernelWriter(const OperatorGraph& graph, BlockRole role, const Plan& plan, const Framework& framework, bool reads_data,
                           ComputeUnit unit, const KernelWriter* wide)
    : graph_(graph),
      role_(role),
      plan_(plan),
      framework_(framework),
      unit_(unit),
      wide_(wide),
      product_type_(product_type(plan.precision, role)),
      unnarrowed_type_(unnarrowed_type(plan.precision, role)),
      readers_(count_readers(graph)),
      chains_(fuse(graph, framework, plan.precision.compute, readers_)),
      gathered_again_(find_gathered_again(graph)),
      inside_products_(find_inside_products(graph, framework, product_type_)),
      wanted_(find_wanted(graph, reads_data)),
      narrowed_parts_(find_narrowed_parts(graph, product_type_)),
      recomputed_(recomputed_operators(graph, plan, framework)) {}

void KernelWriter::write(BlockKernels& out) const {
    std::vector<BlockKernels> parts;
    parts.reserve(chains_.size());
    for (const FusedChain& chain : chains_) parts.push_back(write_chain(chain));
    for (BlockKernels& part : parts) {
        append(part.forward, part.forward_exchanges, out.forward, out.forward_exchanges);
        append(part.recompute, part.recompute_exchanges, out.recompute, out.recompute_exchanges);
    }
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
        append(part->backward, part->backward_exchanges, out.backward, out.backward_exchanges);
    for (const TensorId id : graph_.inputs()) add_gradient_sum(id, out.backward);
}

// What one chain runs in each phase.
BlockKernels KernelWriter::write_chain(const FusedChain& chain) const {
    BlockKernels out;
    prepare_chain(chain, out);
    const Operator& first = graph_.operators()[chain.operators.front()];
    const auto casts = std::ssize(out.forward);  // made once for forward and recompute
    const std::size_t sums = out.backward.size();
    if (chain.operators.size() > 1) {
        push_memory(out.forward, first.name, chain_bytes(chain, false), false);
        push_memory(out.backward, first.name, chain_bytes(chain, true), true);
    } else {
        const KernelWriter& writer = is_widened(first) ? *wide_ : *this;
        std::visit([&](const auto& kind) { writer.write_operator(first, kind, out); }, first.kind);
    }
    add_work(chain, false, out.forward);
    add_work(chain, true, out.backward);
    if (is_widened(first)) add_conversions(first, out);
    for (const std::size_t i : chain.operators) finish_weight_gradient(graph_.operators()[i], out.backward);
    const auto op = static_cast<int>(chain.operators.front());
    for (Kernel& k : out.forward) k.op = op;
    for (Kernel& k : std::span(out.backward).subspan(sums)) k.op = op;
    const bool again = is_recomputed(first, plan_) && std::ranges::any_of(chain.operators, [&](std::size_t i) { return recomputed_[i]; });
    if (role_ == BlockRole::layer && again) {  // only layers have checkpoints
        out.recompute.assign(out.forward.begin() + casts, out.forward.end());
        out.recompute_exchanges = out.forward_exchanges;
    }
    if (!is_differentiated(chain)) {
        out.backward.clear();
        out.backward_exchanges.clear();
    }
    return out;
}

// What the operators of a chain compute on elements, to its last kernel.
void KernelWriter::add_work(const FusedChain& chain, bool backward, std::vector<Kernel>& kernels) const {
    for (const std::size_t i : chain.operators)
        if (const double work = elementwise_work(graph_.operators()[i].kind, backward); work > 0 && !kernels.empty())
            kernels.back().exponentials += work;
}

bool KernelWriter::is_widened(const Operator& op) const {
    const OperatorKind& kind = op.kind;
    const bool multiplies =
        std::holds_alternative<Gemm>(kind) || std::holds_alternative<Attention>(kind) || std::holds_alternative<Convolution>(kind);
    const bool has_code = std::holds_alternative<Embedding>(kind) || std::holds_alternative<CrossEntropy>(kind) ||
                          std::holds_alternative<Exchange>(kind) || (multiplies && unit_ == ComputeUnit::tensor);
    return wide_ != nullptr && !has_code;
}

// Each array of 16 bits that an operator reads is copied into FP32 first, and each that it makes is rounded from there (backend/exec/
// wide_call.hpp): forward inputs, weights and outputs; backward what it kept of either, weights, and gradients.
void KernelWriter::add_conversions(const Operator& op, BlockKernels& out) const {
    const Bytes each = element_size(TensorRole::activation, plan_.precision) + size_of(DataType::fp32);
    const auto convert = [&](std::vector<Kernel>& list, const std::vector<std::vector<TensorId>>& arrays, bool backward) {
        double elements = op.parameters;
        int calls = op.parameters > 0 ? 1 : 0;
        for (const std::vector<TensorId>& ids : arrays)
            for (const TensorId id : ids) {
                if (!has_gradient(graph_.tensor(id).role)) continue;
                elements += graph_.tensor(id).elements();
                ++calls;
            }
        push_memory(list, op.name + ".convert", elements * each, backward, calls);
    };
    convert(out.forward, {op.inputs, op.outputs}, false);
    convert(out.backward, {saved_for_backward(op), op.outputs, wants_gradient(op) ? op.inputs : std::vector<TensorId>{}}, true);
}

// What comes before the chain's own kernels: forward its weights are cast; backward the gradients that its readers leave are summed,
// and what it read of other ranks' inputs is gathered again.
void KernelWriter::prepare_chain(const FusedChain& chain, BlockKernels& out) const {
    for (const std::size_t i : chain.operators) {
        const Operator& op = graph_.operators()[i];
        if (casts_weights() && op.parameters > 0) push_memory(out.forward, op.name + ".cast", op.parameters * cast_bytes(), false);
        for (const TensorId id : op.outputs) add_gradient_sum(id, out.backward);
    }
    for (const std::size_t i : chain.operators)
        for (const std::size_t exchange : gathered_again_[i]) {
            const Operator& op = graph_.operators()[exchange];
            const auto& e = std::get<Exchange>(op.kind);
            out.backward_exchanges.push_back({ExchangeKind::all_gather, e.group,
                                              exchange_bytes(op, e, ExchangeKind::all_gather, op.outputs.front()), out.backward.size(),
                                              feeds_weights_alone(graph_, op)});
        }
}

// A chain reads what comes from outside it and writes what is used outside it or kept for backward. Going back it reads the
// gradients of what it handed on and what was kept, and writes the gradients of what it read.
Bytes KernelWriter::chain_bytes(const FusedChain& chain, bool backward) const {
    Bytes traffic = sum_bytes(chain.inputs);
    for (const TensorId id : chain.outputs)
        if (!backward || has_gradient(graph_.tensor(id).role)) traffic += bytes_of(id);
    return traffic + sum_bytes(backward ? chain.kept : chain.saved);
}

// `gathered`: where it gathers, the tensor of which every rank then has all, or all of its gradient. What products want narrow is made so
// before; a gradient in both layouts where scales belong to one.
Bytes KernelWriter::exchange_bytes(const Operator& op, const Exchange& e, ExchangeKind kind, TensorId gathered) const {
    if (kind != ExchangeKind::all_gather || narrowed_parts_[gathered.value] == 1)
        return e.elements * element_size(graph_.tensor(op.inputs.front()).role, plan_.precision);
    const bool is_gradient = gathered == op.inputs.front();
    return (is_gradient && narrows_in_blocks() ? 2.0 : 1.0) * e.elements * size_of(product_type_);
}

void KernelWriter::write_operator(const Operator& op, const Exchange& e, BlockKernels& out) const {
    const auto call = [&](ExchangeKind kind, TensorId gathered, std::size_t after) {
        const Bytes bytes = exchange_bytes(op, e, kind, gathered);
        return ExchangeCall{.kind = kind, .group = e.group, .bytes = bytes, .after = after, .copies = e.copies, .reach = e.reach};
    };
    const TensorId in = op.inputs.front(), made = op.outputs.front();
    if (e.forward != ExchangeKind::none) out.forward_exchanges.push_back(call(e.forward, made, 0));
    if (e.backward != ExchangeKind::none) out.backward_exchanges.push_back(call(e.backward, in, out.backward.size()));
}

// A tensor that several operators read gets several gradients: each beyond the first is added by a kernel of its own.
void KernelWriter::add_gradient_sum(TensorId id, std::vector<Kernel>& list) const {
    const Tensor& t = graph_.tensor(id);
    if (t.role != TensorRole::activation || readers_[id.value] < 2) return;
    const int sums = readers_[id.value] - 1;
    push_memory(list, t.name + ".sum", 3.0 * sums * bytes_of(id), true, sums);
}

// From the second micro-batch on, each weight's gradient is added to what is there: two reads and a write.
void KernelWriter::finish_weight_gradient(const Operator& op, std::vector<Kernel>& list) const {
    if (!op.is_trained()) return;
    if (casts_weights()) push_weight_gradient(list, op.name + ".cast", op.parameters * cast_bytes());
    if (later_micro_batches_add() && !framework_.fused_gradient_accumulation) {
        push_weight_gradient(list, op.name + ".accumulate", 3.0 * op.parameters * size_of(plan_.precision.gradient_type()));
        list.back().adds_gradients = true;
    }
}

BlockKernels block_kernels(const OperatorGraph& graph, BlockRole role, const Plan& plan, const Framework& framework, bool reads_data,
                           ComputeUnit unit) {
    BlockKernels out;
    std::optional<Plan> in_fp32;
    std::optional<KernelWriter> wide;
    if (framework.widens_16_bits && size_of(plan.precision.activation) < size_of(DataType::fp32)) {
        Precision& precision = in_fp32.emplace(plan).precision;
        precision.gradient = plan.precision.gradient_type();
        precision.compute = precision.activation = DataType::fp32;
        wide.emplace(graph, role, *in_fp32, framework, reads_data, ComputeUnit::vector);
    }
    KernelWriter(graph, role, plan, framework, reads_data, unit, wide ? &*wide : nullptr).write(out);
    const DataType type = product_type(plan.precision, role);
    measure_saved(graph, plan, framework, type, reads_data, out);
    count_work(graph, type, out);
    if (facts_of(plan.optimizer).spared_states > 0 && role == BlockRole::layer) out.matrices = trained_matrices(graph);
    if (framework.fused_gradient_accumulation && framework.keeps_gradient_placeholders) out.placeholders = trained_matrices(graph);
    return out;
}

}  // namespace sextant
