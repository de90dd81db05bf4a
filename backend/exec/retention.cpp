#include "backend/exec/retention.hpp"

#include <algorithm>

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

}  // namespace

std::vector<std::size_t> makers_of(const OperatorGraph& graph) {
    std::vector<std::size_t> makers(graph.tensors().size(), graph.operators().size());
    for (std::size_t i = 0; i < graph.operators().size(); ++i)
        for (const TensorId id : graph.operators()[i].outputs) makers[id.value] = i;
    return makers;
}

Retention plan_retention(const OperatorGraph& graph, const std::vector<bool>& dropped, const std::vector<bool>& differentiated) {
    const std::size_t operators = graph.operators().size(), tensors = graph.tensors().size();
    Retention r{std::vector<bool>(tensors), std::vector<std::size_t>(tensors, 0), std::vector<std::size_t>(tensors, operators)};
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
    for (std::size_t t = 0; t < tensors; ++t)
        if (r.last_backward[t] == operators) r.kept[t] = false;
    return r;
}

}  // namespace sextant
