#include "backend/exec/index_inputs.hpp"

#include "backend/exec/executable_graph.hpp"

#include <algorithm>

namespace sextant {
namespace {

// The look-up, or the loss, that reads an input; null: none does.
const Operator* reader_of(const OperatorGraph& graph, TensorId input) {
    for (const Operator& op : graph.operators()) {
        const bool reads = std::holds_alternative<Embedding>(op.kind) || std::holds_alternative<CrossEntropy>(op.kind);
        if (reads && std::ranges::find(op.inputs, input) != op.inputs.end()) return &op;
    }
    return nullptr;
}

std::int64_t tokens_ahead(const Operator& reader) {
    const auto* loss = std::get_if<CrossEntropy>(&reader.kind);
    return loss != nullptr ? loss->ahead : std::get<Embedding>(reader.kind).ahead;
}

}  // namespace

std::int64_t values_of_index(const OperatorGraph& graph, TensorId input) {
    const Operator* reader = reader_of(graph, input);
    if (reader == nullptr) return 1;
    const auto* loss = std::get_if<CrossEntropy>(&reader->kind);
    return loss != nullptr ? loss->classes : std::get<Embedding>(reader->kind).rows;
}

bool is_label(const OperatorGraph& graph, TensorId input) {
    const Operator* reader = reader_of(graph, input);
    return reader != nullptr && std::holds_alternative<CrossEntropy>(reader->kind);
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

const Tensor* losses_of_pixels(const Network& serial) {
    const OperatorGraph& last = serial.block(serial.sequence.size() - 1).graph;
    for (const Operator& op : last.operators()) {
        const Tensor& made = last.tensor(op.outputs.front());
        if (std::holds_alternative<CrossEntropy>(op.kind) && is_image(made)) return &made;
    }
    return nullptr;
}

Array index_input(ComputeDevice& device, const OperatorGraph& graph, TensorId input, ContextCut context, std::int64_t sequence,
                  std::int64_t samples, const IndexAt& value) {
    const Operator* reader = reader_of(graph, input);
    const bool label = reader != nullptr && std::holds_alternative<CrossEntropy>(reader->kind);
    const std::int64_t ahead = reader != nullptr ? tokens_ahead(*reader) : 0;
    const std::int64_t here = static_cast<std::int64_t>(graph.tensor(input).elements()) / samples, all = here * context.ranks;
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(here * samples));
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t i = 0; i < here; ++i) {
            const std::int64_t at = context.position(i, here);
            if (label && all == 1)
                values.push_back(value(s, {}));
            else if (label && sequence == 0)
                values.push_back(value(s, i));
            else if (label)
                values.push_back(value(s, std::min(at * sequence / all + 1 + ahead, sequence)));
            else
                values.push_back(value(s, std::min(at + ahead, all)));
        }
    Array array = device.allocate(here * samples, Element::index);
    device.upload(values.data(), array);
    return array;
}

}  // namespace sextant
