#include "backend/exec/index_inputs.hpp"

#include "backend/exec/executable_graph.hpp"

#include <algorithm>

namespace sextant {

std::int64_t values_of_index(const OperatorGraph& graph, TensorId id) {
    for (const Operator& op : graph.operators()) {
        if (std::ranges::find(op.inputs, id) == op.inputs.end()) continue;
        if (const auto* e = std::get_if<Embedding>(&op.kind)) return e->rows;
        if (const auto* c = std::get_if<CrossEntropy>(&op.kind)) return c->classes;
    }
    return 1;
}

bool is_label(const OperatorGraph& graph, TensorId id) {
    return std::ranges::any_of(graph.operators(), [&](const Operator& op) {
        return std::holds_alternative<CrossEntropy>(op.kind) && std::ranges::find(op.inputs, id) != op.inputs.end();
    });
}

std::vector<std::vector<std::int64_t>> values_of_indices(const Network& serial) {
    std::vector<std::vector<std::int64_t>> values;
    for (const int t : serial.sequence) {
        const OperatorGraph graph = executable(serial.templates[static_cast<std::size_t>(t)].graph);
        std::vector<std::int64_t>& of_block = values.emplace_back();
        for (const TensorId id : graph.inputs())
            of_block.push_back(graph.tensor(id).role == TensorRole::index ? values_of_index(graph, id) : 0);
    }
    return values;
}

}  // namespace sextant
