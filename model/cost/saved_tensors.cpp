#include "model/cost/kernel_rules.hpp"
#include "model/plan/recompute.hpp"

#include <algorithm>

namespace sextant {
namespace {

bool reaches_loss(const OperatorGraph& graph, TensorId id) {
    return std::ranges::any_of(
        graph.operators(), [&](const Operator& op) { return std::holds_alternative<CrossEntropy>(op.kind) && op.inputs.front() == id; });
}

// What backward reads of the passes that an operator is composed of, beside what it reads of the operator itself: of a gate the activation,
// of an RMS norm what was widened and what was normalized.
Bytes kept_inside(const OperatorGraph& graph, const Operator& op, const Precision& precision) {
    if (op.outputs.empty()) return {};
    const Tensor& result = graph.tensor(op.outputs.front());
    const Bytes narrow = element_size(result.role, precision);
    const auto* p = std::get_if<Pointwise>(&op.kind);
    if (p != nullptr && p->kind == PointwiseKind::gate) return result.elements() * narrow;
    const auto* n = std::get_if<Normalization>(&op.kind);
    if (n != nullptr && n->kind == NormKind::rms && !n->gated)
        return result.elements() * (narrow < size_of(DataType::fp32) ? size_of(DataType::fp32) + narrow : narrow);
    return {};
}

// In a forward alone each tensor lives from the operator that makes it to the last one that reads it. Logits are made one part at a time.
Bytes most_alive(const OperatorGraph& graph, const Plan& plan) {
    const std::span<const Operator> operators = graph.operators();
    const auto touched = [](const Operator& op) {
        std::vector<std::size_t> ids;
        for (const auto* list : {&op.inputs, &op.outputs})
            for (const TensorId id : *list) ids.push_back(id.value);
        std::ranges::sort(ids);
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());  // clang 14, which fuzzes, has no ranges::unique
        return ids;
    };
    std::vector<std::size_t> last(graph.tensors().size(), 0);
    for (std::size_t i = 0; i < operators.size(); ++i)
        for (const std::size_t id : touched(operators[i])) last[id] = i;
    for (const TensorId id : graph.outputs()) last[id.value] = operators.size();
    const auto bytes = [&](std::size_t id) {
        const Tensor& t = graph.tensors()[id];
        return t.elements() * element_size(t.role, plan.precision) / (t.role == TensorRole::logits ? plan.head_chunks : 1);
    };
    Bytes now;
    for (const TensorId id : graph.inputs()) now += bytes(id.value);
    Bytes most = now;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        for (const TensorId id : operators[i].outputs) now += bytes(id.value);
        most = max(most, now);
        for (const std::size_t id : touched(operators[i]))
            if (last[id] == i) now -= bytes(id);
    }
    return most;
}

// Without those that the block only hands on.
std::vector<TensorId> read_inputs(const OperatorGraph& graph) {
    std::vector<TensorId> read(graph.inputs().begin(), graph.inputs().end());
    std::erase_if(read, [&](TensorId id) {
        return std::ranges::find(graph.outputs(), id) != graph.outputs().end() &&
               std::ranges::none_of(graph.operators(),
                                    [&](const Operator& op) { return std::ranges::find(op.inputs, id) != op.inputs.end(); });
    });
    return read;
}

}  // namespace

bool is_16_bit_or_wider(DataType type) { return size_of(type) >= Bytes::from_si(2); }

DataType product_type(const Precision& precision, BlockRole role) {
    return role != BlockRole::layer && !is_16_bit_or_wider(precision.compute) ? precision.activation : precision.compute;
}

std::vector<bool> find_kept_narrow(const OperatorGraph& graph, DataType product_type) {
    std::vector<bool> narrow;
    for (const Tensor& t : graph.tensors()) narrow.push_back(t.role == TensorRole::activation && !is_16_bit_or_wider(product_type));
    for (const Operator& op : graph.operators()) {
        if (is_narrowed(op)) continue;
        for (const TensorId id : saved_for_backward(op)) narrow[id.value] = false;
    }
    return narrow;
}

Bytes kept_size(const Tensor& t, bool narrow, const Precision& precision, DataType product_type) {
    return t.elements() * (narrow ? size_of(product_type) : element_size(t.role, precision));
}

void measure_saved(const OperatorGraph& graph, const Plan& plan, const Framework& framework, DataType product_type, bool reads_data,
                   BlockKernels& out) {
    const std::vector<bool> dropped = dropped_tensors(graph, plan), narrow = find_kept_narrow(graph, product_type);
    const std::vector<TensorId> kept_inputs = read_inputs(graph);
    for (const TensorId id : saved_for_backward(graph)) {
        const Tensor& t = graph.tensor(id);
        const Bytes bytes = kept_size(t, narrow[id.value], plan.precision, product_type);
        if (narrow[id.value] || std::ranges::find(kept_inputs, id) == kept_inputs.end()) out.made_again += bytes;
        if (dropped[id.value]) {
            out.dropped += bytes;
            continue;
        }
        if (t.role == TensorRole::logits) {
            out.saved_logits += bytes;
            // Without a fused loss the framework keeps an fp32 copy beside the logits.
            if (!framework.fused_cross_entropy && reaches_loss(graph, id)) out.saved_logits += t.elements() * size_of(DataType::fp32);
        } else {
            out.saved += bytes;
        }
    }
    if (framework.composes_functions) {
        for (const Operator& op : graph.operators()) {
            const Bytes inside = kept_inside(graph, op, plan.precision);
            out.made_again += inside;
            (dropped[op.outputs.front().value] ? out.dropped : out.saved) += inside;
        }
    }
    for (const TensorId id : kept_inputs)
        out.kept_input += graph.tensor(id).elements() * element_size(graph.tensor(id).role, plan.precision);
    for (const TensorId id : graph.outputs())
        out.boundary += graph.tensor(id).elements() * element_size(graph.tensor(id).role, plan.precision);
    out.alive = most_alive(graph, plan);
    if (framework.counts_gradients_of_activations && !plan.forward_only) {
        out.in_backward = most_in_backward(graph, plan, dropped, reads_data);
        out.in_backward_again = most_in_backward(graph, plan, std::vector<bool>(graph.tensors().size(), true), reads_data);
    }
}

}  // namespace sextant
