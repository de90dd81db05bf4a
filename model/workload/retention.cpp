#include "model/workload/retention.hpp"

#include <algorithm>
#include <ranges>
#include <set>

namespace sextant {
namespace {

// Plays backward, to see what it touches.
class Rehearsal {
public:
    Rehearsal(const OperatorGraph& graph, Retention& retention)
        : graph_(graph), retention_(retention), makers_(makers_of(graph)), available_(retention.kept) {}

    void touch(TensorId id, std::size_t for_operator) {
        retention_.last_backward[id.value] = for_operator;
        if (available_[id.value]) return;
        available_[id.value] = true;
        const std::size_t maker = makers_[id.value];
        if (maker == graph_.operators().size()) {
            retention_.kept[id.value] = true;  // it arrived, and nobody can make it again
            return;
        }
        for (const TensorId in : graph_.operators()[maker].inputs) touch(in, for_operator);
        retention_.again[for_operator].push_back({maker});
        for (const TensorId out : graph_.operators()[maker].outputs) {
            available_[out.value] = true;
            retention_.last_backward[out.value] = for_operator;
        }
    }

private:
    const OperatorGraph& graph_;
    Retention& retention_;
    std::vector<std::size_t> makers_;
    std::vector<bool> available_;
};

// What is made on the way to what an operator needs goes with its last reader.
void release_on_the_way(const OperatorGraph& graph, Retention& r) {
    for (std::size_t i = 0; i < r.again.size(); ++i) {
        const std::vector<TensorId> read = saved_for_backward(graph.operators()[i]);
        std::set<TensorId> needed(read.begin(), read.end());
        for (RunAgain& again : std::views::reverse(r.again[i])) {
            const Operator& op = graph.operators()[again.operator_index];
            for (const auto* list : {&op.outputs, &op.inputs})
                for (const TensorId id : *list)
                    if (r.last_backward[id.value] == i && needed.insert(id).second) again.releases.push_back(id);
        }
    }
}

}  // namespace

bool hands_gradient_through(const OperatorGraph& graph, const Operator& op) {
    if (const auto* e = std::get_if<Exchange>(&op.kind))
        return e->backward == ExchangeKind::none && graph.tensor(op.inputs.front()).shape == graph.tensor(op.outputs.front()).shape;
    const auto* p = std::get_if<Pointwise>(&op.kind);
    if (p == nullptr || op.parameters > 0) return false;
    return p->kind == PointwiseKind::add || p->kind == PointwiseKind::cast ||
           (p->kind == PointwiseKind::mask && !p->causal && p->window == 0 && p->shifted_windows == 0);
}

std::vector<std::size_t> makers_of(const OperatorGraph& graph) {
    std::vector<std::size_t> makers(graph.tensors().size(), graph.operators().size());
    for (std::size_t i = 0; i < graph.operators().size(); ++i)
        for (const TensorId id : graph.operators()[i].outputs) makers[id.value] = i;
    return makers;
}

Retention plan_retention(const OperatorGraph& graph, const std::vector<bool>& dropped, const std::vector<bool>& differentiated) {
    const std::size_t operators = graph.operators().size(), tensors = graph.tensors().size();
    Retention r{std::vector<bool>(tensors), std::vector<std::size_t>(tensors, 0), std::vector<std::size_t>(tensors, operators),
                std::vector<std::vector<RunAgain>>(operators)};
    for (std::size_t i = 0; i < operators; ++i) {
        for (const TensorId id : graph.operators()[i].outputs) r.last_forward[id.value] = i;
        for (const TensorId id : graph.operators()[i].inputs) r.last_forward[id.value] = i;
    }
    for (const TensorId id : graph.outputs()) r.last_forward[id.value] = operators;
    const auto keep = [&](TensorId id) { r.kept[id.value] = !dropped[id.value]; };
    for (const TensorId id : saved_for_backward(graph)) keep(id);
    // What the block hands on, and needs again itself, is the array that the block behind keeps: to keep it here costs nothing.
    for (std::size_t i = 0; i < operators; ++i)
        for (const TensorId id : saved_for_backward(graph.operators()[i]))
            if (differentiated[i] && std::ranges::find(graph.outputs(), id) != graph.outputs().end()) keep(id);
    Rehearsal rehearsal(graph, r);
    for (std::size_t i = operators; i-- > 0;)
        if (differentiated[i])
            for (const TensorId id : saved_for_backward(graph.operators()[i])) rehearsal.touch(id, i);
    release_on_the_way(graph, r);
    for (std::size_t t = 0; t < tensors; ++t)
        if (r.last_backward[t] == operators) r.kept[t] = false;
    return r;
}

}  // namespace sextant
