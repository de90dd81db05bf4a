#include "model/cost/kernel_rules.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Are all operators that read a tensor, or make it, such ones?
template <class Is>
bool all_that_have(TensorId tensor, std::vector<TensorId> Operator::*where, const OperatorGraph& graph, const Is& is) {
    return std::ranges::all_of(graph.operators(),
                               [&](const Operator& op) { return std::ranges::find(op.*where, tensor) == (op.*where).end() || is(op); });
}

}  // namespace

Bytes element_size(TensorRole role, const Precision& precision) {
    switch (role) {
        case TensorRole::activation:
        case TensorRole::logits: return size_of(precision.activation);
        case TensorRole::statistic: return size_of(DataType::fp32);
        case TensorRole::mask: return Bytes::from_si(1);
        case TensorRole::index: return Bytes::from_si(8);
    }
    return size_of(precision.activation);
}

DataType unnarrowed_type(const Precision& precision, BlockRole role) {
    return std::max(product_type(precision, role), precision.activation, [](DataType a, DataType b) { return size_of(a) < size_of(b); });
}

bool is_narrowed(const Operator& op) {
    const auto* gemm = std::get_if<Gemm>(&op.kind);
    return gemm != nullptr && gemm->weight && op.adapter == AdapterPart::none;
}

std::vector<bool> find_inside_products(const OperatorGraph& graph, const Framework& framework, DataType product_type) {
    std::vector<bool> inside(graph.tensors().size());
    if (!framework.fuses_expert_gate || product_type != DataType::mxfp8) return inside;
    for (const Operator& product : graph.operators()) {
        if (!product.expert_parameters) continue;
        for (const Operator& op : graph.operators()) {
            const auto* p = std::get_if<Pointwise>(&op.kind);
            if (p == nullptr || p->kind != PointwiseKind::gate || op.inputs.front() != product.outputs.front()) continue;
            inside[op.inputs.front().value] = true;
            inside[op.outputs.front().value] = true;
        }
    }
    return inside;
}

// Transformer Engine quantizes what a rank has of the sequence and gathers that, in every recipe (NVIDIA/TransformerEngine v1.11,
// pytorch/module/layernorm_linear.py, `grad_output_preprocess` of base.py; v2.1, `with_quantized_all_gather`).
std::vector<double> find_narrowed_parts(const OperatorGraph& graph, DataType product_type) {
    std::vector<double> parts(graph.tensors().size(), 1);
    if (is_16_bit_or_wider(product_type)) return parts;
    const auto narrowed = [](const Operator& op) { return is_narrowed(op) && !op.expert_parameters; };
    const auto narrowed_alone = [&](const Operator& op) { return narrowed(op) && op.outputs.size() == 1; };
    for (const Operator& exchange : graph.operators()) {
        const auto* e = std::get_if<Exchange>(&exchange.kind);
        if (e == nullptr || e->group != ParallelGroup::tensor) continue;
        const TensorId in = exchange.inputs.front(), out = exchange.outputs.front();
        const double part = graph.tensor(in).elements() / graph.tensor(out).elements();
        if (e->forward == ExchangeKind::all_gather && all_that_have(out, &Operator::inputs, graph, narrowed)) parts[out.value] = part;
        if (e->backward == ExchangeKind::all_gather && all_that_have(in, &Operator::outputs, graph, narrowed_alone))
            parts[in.value] = 1 / part;
    }
    return parts;
}

bool has_gradient(TensorRole role) { return role == TensorRole::activation || role == TensorRole::logits; }

bool feeds_weights_alone(const OperatorGraph& graph, const Operator& exchange) {
    return all_that_have(exchange.outputs.front(), &Operator::inputs, graph, [](const Operator& op) {
        const auto* gemm = std::get_if<Gemm>(&op.kind);
        return (gemm && gemm->weight) || std::holds_alternative<Convolution>(op.kind);
    });
}

std::vector<std::vector<std::size_t>> find_gathered_again(const OperatorGraph& graph) {
    const auto operators = graph.operators();
    std::vector<std::vector<std::size_t>> exchanges(operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const auto* e = std::get_if<Exchange>(&operators[i].kind);
        if (!e || !e->regathered) continue;
        std::size_t last = i;
        for (std::size_t j = i + 1; j < operators.size(); ++j)
            if (const auto needed = saved_for_backward(operators[j]);
                std::ranges::find_first_of(needed, operators[i].outputs) != needed.end())
                last = j;
        if (last > i) exchanges[last].push_back(i);
    }
    return exchanges;
}

std::vector<bool> find_wanted(const OperatorGraph& graph, bool reads_data) {
    std::vector<bool> wanted(graph.tensors().size());
    for (const TensorId id : graph.inputs()) wanted[id.value] = !reads_data && graph.tensor(id).role == TensorRole::activation;
    for (const Operator& op : graph.operators()) {
        const bool flows = op.is_trained() || std::ranges::any_of(op.inputs, [&](TensorId id) { return wanted[id.value]; });
        for (const TensorId id : op.outputs) wanted[id.value] = flows;
    }
    return wanted;
}

std::vector<WeightMatrix> trained_matrices(const OperatorGraph& graph) {
    std::vector<WeightMatrix> matrices;
    for (const Operator& op : graph.operators())
        if (const auto* g = std::get_if<Gemm>(&op.kind); g != nullptr && g->weight && op.is_trained())
            matrices.push_back({g->batch, g->k, g->n, op.expert_parameters});
    return matrices;
}

void count_work(const OperatorGraph& graph, DataType product_type, BlockKernels& out) {
    out.trained = graph.count_parameters(false);
    out.frozen = graph.count_parameters(true);
    for (const Operator& op : graph.operators()) {
        if (op.is_trained()) out.trained_tensors += 1;
        if (is_narrowed(op) && !is_16_bit_or_wider(product_type)) {
            const auto& g = std::get<Gemm>(op.kind);  // a bias is added, and stays wide
            (op.expert_parameters ? out.narrowed.expert : out.narrowed.dense) += static_cast<double>(g.batch * g.k * g.n);
        }
        out.forward_flops += forward_flops(op);
        out.backward_flops += backward_flops(op);
    }
}

}  // namespace sextant
