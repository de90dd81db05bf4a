#include "backend/exec/index_inputs.hpp"

#include "backend/exec/executable_graph.hpp"

#include <algorithm>

namespace sextant {

std::int64_t values_of_index(const OperatorGraph& graph, TensorId input) {
    for (const Operator& op : graph.operators()) {
        if (std::ranges::find(op.inputs, input) == op.inputs.end()) continue;
        if (const auto* e = std::get_if<Embedding>(&op.kind)) return e->rows;
        if (const auto* c = std::get_if<CrossEntropy>(&op.kind)) return c->classes;
    }
    return 1;
}

bool is_label(const OperatorGraph& graph, TensorId input) {
    return std::ranges::any_of(graph.operators(), [&](const Operator& op) {
        return std::holds_alternative<CrossEntropy>(op.kind) && std::ranges::find(op.inputs, input) != op.inputs.end();
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

Array index_input(ComputeDevice& device, const Tensor& t, bool label, ContextCut context, std::int64_t sequence, std::int64_t samples,
                  const IndexAt& value) {
    const std::int64_t here = static_cast<std::int64_t>(t.elements()) / samples, all = here * context.ranks;
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(here * samples));
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t i = 0; i < here; ++i) {
            const std::int64_t at = context.position(i, here);
            if (label && all == 1)
                values.push_back(value(s, {}));
            else
                values.push_back(value(s, label ? at * sequence / all + 1 : at));
        }
    Array array = device.allocate(here * samples, Element::index);
    device.upload(values.data(), array);
    return array;
}

}  // namespace sextant
