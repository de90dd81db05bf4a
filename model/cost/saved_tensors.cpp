#include "model/cost/kernel_rules.hpp"
#include "model/plan/recompute.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Tensors that backward reads only as operands of weight GEMMs: kept as the narrow copies that forward made.
std::vector<char> narrow_tensors(const OperatorGraph& graph, DataType product_type) {
    std::vector<char> narrow(graph.tensors().size(), is_16_bit_or_wider(product_type) ? 0 : 1);
    for (const Operator& op : graph.operators()) {
        if (is_narrowed(op)) continue;
        for (const TensorId id : saved_for_backward(op)) narrow[id.value] = 0;
    }
    return narrow;
}

bool reaches_loss(const OperatorGraph& graph, TensorId id) {
    return std::ranges::any_of(
        graph.operators(), [&](const Operator& op) { return std::holds_alternative<CrossEntropy>(op.kind) && op.inputs.front() == id; });
}

}  // namespace

bool is_16_bit_or_wider(DataType type) { return size_of(type) >= Bytes::from_si(2); }

DataType product_type(const Precision& precision, BlockRole role) {
    return role != BlockRole::layer && !is_16_bit_or_wider(precision.compute) ? precision.activation : precision.compute;
}

void measure_saved(const OperatorGraph& graph, const Plan& plan, const Framework& framework, DataType product_type, BlockKernels& out) {
    const std::vector<char> dropped = dropped_tensors(graph, plan), narrow = narrow_tensors(graph, product_type);
    for (const TensorId id : saved_for_backward(graph)) {
        const Tensor& t = graph.tensor(id);
        const bool activation = t.role == TensorRole::activation;
        const Bytes bytes = t.elements() * (activation && narrow[id.value] ? size_of(product_type) : element_size(t.role, plan.precision));
        out.working += bytes;
        if (dropped[id.value]) {
            out.dropped += bytes;
            continue;
        }
        if (t.role == TensorRole::logits) {
            out.saved_logits += bytes;
            if (!reaches_loss(graph, id)) continue;
            // Without a fused loss the framework keeps an fp32 copy beside the logits.
            if (framework.logits_gradient_apart) out.logits_gradient += bytes;
            if (!framework.fused_cross_entropy) out.saved_logits += t.elements() * size_of(DataType::fp32);
        } else {
            out.saved += bytes;
        }
    }
    for (const TensorId id : graph.inputs())
        out.kept_input += graph.tensor(id).elements() * element_size(graph.tensor(id).role, plan.precision);
    for (const TensorId id : graph.outputs())
        out.boundary += graph.tensor(id).elements() * element_size(graph.tensor(id).role, plan.precision);
}

}  // namespace sextant
