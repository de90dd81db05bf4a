#include "model/cost/fusion.hpp"

#include <algorithm>

namespace sextant {
namespace {

bool is_pointwise(const Operator& op) { return std::holds_alternative<Pointwise>(op.kind); }
bool is_softmax(const Operator& op) { return std::holds_alternative<Softmax>(op.kind); }
bool is_normalization(const Operator& op) { return std::holds_alternative<Normalization>(op.kind); }

bool is_scale_or_mask(const Operator& op) {
    const auto* p = std::get_if<Pointwise>(&op.kind);
    return p && (p->kind == PointwiseKind::scale || p->kind == PointwiseKind::mask);
}

// May `next`, which reads the last output of `last`, join its kernel?
bool joins(const Operator& last, const Operator& next, const Framework& framework, DataType compute) {
    if (framework.fused_softmax && is_scale_or_mask(last) && (is_softmax(next) || is_scale_or_mask(next))) return true;
    switch (framework.fusion_in(compute)) {
        case Fusion::none: return false;
        case Fusion::pointwise: return is_pointwise(last) && is_pointwise(next);
        case Fusion::compiler:
            return (is_pointwise(last) || is_normalization(last) || is_softmax(last)) &&
                   (is_pointwise(next) || is_normalization(next) || is_softmax(next));
    }
    return false;
}

bool contains(const std::vector<TensorId>& list, TensorId id) { return std::find(list.begin(), list.end(), id) != list.end(); }

void close(FusedChain& chain, const OperatorGraph& graph, const std::vector<int>& readers, const std::vector<TensorId>& saved) {
    std::vector<TensorId> written;
    std::vector<int> inner_reads(graph.tensors().size(), 0);
    for (const std::size_t index : chain.operators) {
        const Operator& op = graph.operators()[index];
        for (const TensorId id : op.inputs) {
            ++inner_reads[id.value];
            if (!contains(written, id) && !contains(chain.inputs, id)) chain.inputs.push_back(id);
        }
        written.insert(written.end(), op.outputs.begin(), op.outputs.end());
        for (const TensorId id : saved_for_backward(op))
            if (!contains(chain.kept, id)) chain.kept.push_back(id);
    }
    for (const TensorId id : written) {
        if (readers[id.value] > inner_reads[id.value])
            chain.outputs.push_back(id);
        else if (std::binary_search(saved.begin(), saved.end(), id))
            chain.saved.push_back(id);
    }
}

}  // namespace

std::vector<int> count_readers(const OperatorGraph& graph) {
    std::vector<int> readers(graph.tensors().size(), 0);
    for (const Operator& op : graph.operators())
        for (const TensorId id : op.inputs) ++readers[id.value];
    for (const TensorId id : graph.outputs()) ++readers[id.value];
    return readers;
}

std::vector<FusedChain> fuse(const OperatorGraph& graph, const Framework& framework, DataType compute, const std::vector<int>& readers) {
    const std::vector<TensorId> saved = saved_for_backward(graph);
    std::vector<FusedChain> chains;
    for (std::size_t i = 0; i < graph.operators().size(); ++i) {
        const Operator& op = graph.operators()[i];
        if (!chains.empty()) {
            const Operator& last = graph.operators()[chains.back().operators.back()];
            const bool follows = !last.outputs.empty() && contains(op.inputs, last.outputs.front());
            if (follows && joins(last, op, framework, compute)) {
                chains.back().operators.push_back(i);
                continue;
            }
        }
        chains.emplace_back().operators.push_back(i);
    }
    for (FusedChain& chain : chains)
        if (chain.operators.size() > 1) close(chain, graph, readers, saved);
    return chains;
}

}  // namespace sextant
