// How a traced network becomes blocks.
#include "model/io/torch/traced_network.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace sextant {
namespace {

// "blocks.3.mlp.fc1" -> "blocks.3": the module of a list that an operator stands in, the innermost; all of a path without a number.
std::string item_of(const std::string& path) {
    std::size_t end = 0;
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t next = std::min(path.find('.', begin), path.size());
        const bool number = std::all_of(path.begin() + static_cast<std::ptrdiff_t>(begin), path.begin() + static_cast<std::ptrdiff_t>(next),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
        if (number && begin > 0) end = next;
        begin = next + 1;
    }
    return path.substr(0, end > 0 ? end : path.find('.'));
}

// "layers.0", "layers.1" -> "layers"
std::string common_module(const std::string& a, const std::string& b) {
    std::size_t end = 0;
    for (std::size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
        const bool ends_a = i == a.size() || a[i] == '.', ends_b = i == b.size() || b[i] == '.';
        if (ends_a && ends_b) end = i;
        if (i == a.size() || i == b.size() || a[i] != b[i]) break;
    }
    return a.substr(0, end);
}

bool has_matrix(const Operator& op) {
    return (std::holds_alternative<Gemm>(op.kind) || std::holds_alternative<Convolution>(op.kind) ||
            std::holds_alternative<Embedding>(op.kind)) &&
           op.parameters > 0;
}

class Cutter {
public:
    explicit Cutter(const TracedNetwork& traced) : traced_(traced), readers_(traced.tensors.size()) {
        for (std::size_t i = 0; i < traced.operators.size(); ++i)
            for (const TensorId id : traced.operators[i].inputs) readers_[id.value].push_back(i);
        readers_[traced.output.value].push_back(traced.operators.size());
    }

    Network network() {
        std::vector<TensorId> arrive = traced_.inputs;  // at the beginning of the block, from the block before; indices come from the data
        std::erase_if(arrive, [&](TensorId id) { return is_index(id); });
        std::vector<TensorId> alive = arrive;  // in front of operator i
        std::size_t begin = 0;
        bool weighted = false;
        for (std::size_t i = 0; i < traced_.operators.size(); ++i) {
            std::erase_if(alive, [&](TensorId id) { return readers_[id.value].empty() || readers_[id.value].back() < i; });
            if (weighted && another_item(i))
                if (std::vector<TensorId> leave = handed_on(alive, arrive, begin, i); !leave.empty()) {
                    add_block(begin, i, arrive, leave);
                    arrive = std::move(leave);
                    begin = i;
                    weighted = false;
                }
            const Operator& op = traced_.operators[i];
            weighted = weighted || has_matrix(op);
            alive.insert(alive.end(), op.outputs.begin(), op.outputs.end());
        }
        add_block(begin, traced_.operators.size(), arrive, {traced_.output});
        return std::move(network_);
    }

private:
    [[nodiscard]] bool is_index(TensorId id) const { return traced_.tensors[id.value].role == TensorRole::index; }
    static bool contains(const std::vector<TensorId>& list, TensorId id) { return std::ranges::find(list, id) != list.end(); }

    // Is it read from operator i on by several items of a list, each by itself, as what an encoder made is by the layers of a decoder?
    [[nodiscard]] bool is_read_on(TensorId id, std::size_t i) const {
        std::optional<std::string> shared;  // the beginning that the paths of these items have in common
        std::string last;
        bool several = false;
        for (const std::size_t reader : readers_[id.value]) {
            if (reader < i || reader == traced_.operators.size()) continue;
            const auto* pass = std::get_if<Pointwise>(&traced_.operators[reader].kind);
            if (pass != nullptr && pass->kind == PointwiseKind::copy) return false;
            const std::string item = item_of(traced_.modules[reader]);
            several = several || (shared && *shared != item);
            shared = shared ? common_module(*shared, item) : item;
            last = item;
        }
        return several && last.size() > shared->size() + 1 && std::isdigit(static_cast<unsigned char>(last[shared->size() + 1])) != 0;
    }

    // The single tensor that a block of operators [begin, end) makes for the next, then those that go on past it; nothing where there are
    // several. What the block before made for this one is among them for as long as it is read, as by the branches of one item.
    [[nodiscard]] std::vector<TensorId> handed_on(const std::vector<TensorId>& alive, const std::vector<TensorId>& arrived,
                                                  std::size_t begin, std::size_t end) const {
        const auto is_own = [&](TensorId id) {
            return id == arrived.front() && !contains(traced_.inputs, id) && contains(traced_.operators[begin].inputs, id);
        };
        std::vector<TensorId> next, past;
        for (const TensorId id : alive) {
            const bool goes_past = contains(arrived, id) && !is_own(id);
            (goes_past || is_read_on(id, end) ? past : next).push_back(id);
        }
        if (next.size() != 1) return {};
        next.insert(next.end(), past.begin(), past.end());
        return next;
    }

    // Does an item end in front of operator i? What a framework fuses with the operator before stays with it.
    [[nodiscard]] bool another_item(std::size_t i) const {
        const Operator &op = traced_.operators[i], &before = traced_.operators[i - 1];
        const auto* norm = std::get_if<Normalization>(&op.kind);
        const bool fuses = std::holds_alternative<Pointwise>(op.kind) || (norm != nullptr && norm->kind == NormKind::batch);
        const bool with_others = has_matrix(before) && !std::holds_alternative<Embedding>(before.kind);
        if (fuses && (with_others || std::holds_alternative<Normalization>(before.kind)) && contains(op.inputs, before.outputs.front()))
            return false;
        return item_of(traced_.modules[i]) != item_of(traced_.modules[i - 1]);
    }

    void add_block(std::size_t begin, std::size_t end, const std::vector<TensorId>& arrive, const std::vector<TensorId>& leave) {
        const std::string item = item_of(traced_.modules[begin]);
        OperatorGraphBuilder graph;
        std::map<TensorId, TensorId> here;
        const auto tensor = [&](TensorId id) -> const Tensor& { return traced_.tensors[id.value]; };
        for (const TensorId id : arrive) here[id] = graph.input("input", tensor(id).shape, tensor(id).role);
        for (std::size_t i = begin; i < end; ++i)
            for (const TensorId id : traced_.operators[i].inputs)
                if (is_index(id) && !here.contains(id)) here[id] = graph.input(tensor(id).name, tensor(id).shape, tensor(id).role);
        if (needed_ && !arrive.empty()) graph.keep_for_writer(here[arrive.front()]);
        for (std::size_t i = begin; i < end; ++i) {
            Operator op = traced_.operators[i];
            if (op.name.starts_with(item + ".")) op.name.erase(0, item.size() + 1);
            for (TensorId& id : op.inputs) id = here.at(id);
            const std::vector<TensorId> outputs = op.outputs;
            const std::string name = op.name;  // which the tensor that it makes first has
            here[outputs.front()] = graph.add(std::move(op), tensor(outputs.front()).shape, tensor(outputs.front()).role);
            for (const TensorId id : std::vector(outputs.begin() + 1, outputs.end()))
                here[id] = graph.also(name + tensor(id).name, tensor(id).shape, tensor(id).role);
        }
        for (const TensorId id : leave) graph.output(here.at(id));
        const bool last = end == traced_.operators.size(), first = begin == 0;
        append({item.empty() ? "network" : item,
                last    ? BlockRole::head
                : first ? BlockRole::input
                        : BlockRole::layer,
                std::move(graph).build()});
    }

    void append(Block block) {
        needed_ = leaves_needed_output(block.graph);
        auto& templates = network_.templates;
        const auto alike = std::ranges::find_if(templates, [&](const Block& b) { return b.role == block.role && b.graph == block.graph; });
        network_.sequence.push_back(static_cast<int>(alike - templates.begin()));
        if (alike == templates.end()) templates.push_back(std::move(block));
    }

    const TracedNetwork& traced_;
    std::vector<std::vector<std::size_t>> readers_;  // by tensor: the operators, in order
    Network network_{};
    bool needed_ = false;  // what the block before hands on, by the operator that made it
};

}  // namespace

Network blocks_of(const TracedNetwork& traced) { return Cutter(traced).network(); }

}  // namespace sextant
