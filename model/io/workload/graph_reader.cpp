#include "model/io/workload/graph_reader.hpp"

#include "model/base/spelling.hpp"
#include "model/io/workload/field_reader.hpp"
#include "model/io/workload/graph_fields.hpp"
#include "model/workload/operator_checks.hpp"

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

namespace sextant {
namespace {

constexpr double most_parameters = 1e13;
constexpr std::size_t most_blocks = 10'000, most_operators = 100'000, most_axes = 8;

// A tensor that comes into being: its shape, or an object with its name and role too.
Tensor read_tensor(const JsonNode& node, const std::string& assumed) {
    Tensor t{assumed, {}, TensorRole::activation};
    const auto read_shape = [&](const JsonNode& shape) {
        if (!shape.value) return;
        if (!shape.is_array()) return complain_about_type(shape, "a list of extents");
        for (const JsonNode& n : shape.elements())
            if (std::int64_t extent = 0; read_value(n, extent, extent_bound)) t.shape.push_back(extent);
        if (shape.elements().empty() || shape.elements().size() > most_axes) shape.complain("a tensor has 1 to 8 extents");
    };
    if (node.is_array()) {
        read_shape(node);
    } else {
        ObjectReader r(node);
        if (assumed.empty()) r.need("name");
        r.optional("name", t.name);
        read_shape(r.need("shape"));
        r.word("role", t.role, tensor_roles);
    }
    if (t.name.empty()) node.complain("a tensor needs a name", R"(as in {"name": "mask", "shape": [64, 128]})");
    if (t.elements() > most_elements) node.complain("a tensor of more elements than any network has");
    return t;
}

class BlockReader {
public:
    explicit BlockReader(std::size_t& operators) : operators_(operators) {}

    Block read(const JsonNode& node) {
        Block block;
        ObjectReader r(node);
        r.optional("name", block.name);
        r.word("role", block.role, block_roles);
        r.need("inputs");
        r.each("inputs", [&](const JsonNode& n) {
            const Tensor t = read_tensor(n, {});
            name(n, t.name, builder_.input(t.name, t.shape, t.role));
        });
        r.need("operators");
        r.each("operators", [&](const JsonNode& n) {
            if (++operators_ == most_operators + 1) n.complain("more than 100000 operators");
            if (operators_ <= most_operators) read_operator(n);
        });
        const std::size_t named = r.need("outputs").elements().size();
        if (node.value && named == 0) node.complain("a block hands something on, or has a loss", "\"outputs\" names what it is");
        for (const TensorId id : read_names(r, "outputs")) builder_.output(id);
        for (const TensorId id : read_names(r, "kept_for_writer")) builder_.keep_for_writer(id);
        block.graph = std::move(builder_).build();
        for (const TensorId id : block.graph.kept_for_writer())
            if (std::ranges::find(block.graph.inputs(), id) == block.graph.inputs().end())
                r.get("kept_for_writer").complain("\"" + block.graph.tensor(id).name + "\" is no input of the block");
        for (const auto& [at, where] : whole_)
            for (const std::string& what : contradictions(block.graph, block.graph.operators()[at])) where.complain(what);
        return block;
    }

private:
    void name(const JsonNode& node, const std::string& text, TensorId id) {
        if (!named_.emplace(text, id).second) node.complain("a tensor of the block is called \"" + text + "\" already");
    }
    std::vector<TensorId> read_names(ObjectReader& r, std::string_view key) {
        std::vector<TensorId> ids;
        r.each(key, [&](const JsonNode& n) {
            std::string text;
            if (!read_value(n, text)) return;
            if (const auto found = named_.find(text); found != named_.end()) return ids.push_back(found->second);
            std::vector<std::string_view> known;
            for (const auto& [name, id] : named_) known.push_back(name);
            complain_unknown(n, text, hint_for(text, known));
        });
        return ids;
    }
    void read_operator(const JsonNode& node) {
        const std::size_t problems = node.diagnostics->list().size();
        Operator op;
        ObjectReader r(node);
        r.required("name", op.name);
        read_kind(r, op);
        operator_fields(FieldReader<Operator>{r, op});
        op.inputs = read_names(r, "of");
        std::vector<std::pair<JsonNode, Tensor>> made;
        r.need("makes", "the shapes of the tensors that it makes");
        r.each("makes", [&](const JsonNode& n) { made.emplace_back(n, read_tensor(n, made.empty() ? op.name : std::string())); });
        if (made.empty()) return r.get("makes").value ? node.complain("an operator makes at least one tensor") : void();
        auto* p = std::get_if<Pointwise>(&op.kind);
        if (p != nullptr && !r.get("pointwise").child("elements").value) p->elements = made.front().second.elements();
        const auto& [where, first] = made.front();
        name(where, first.name, builder_.add(std::move(op), first.shape, first.role));
        for (const auto& [at, t] : std::span(made).subspan(1)) name(at, t.name, builder_.also(t.name, t.shape, t.role));
        if (node.diagnostics->list().size() == problems) whole_.emplace_back(added_, node);
        ++added_;
    }
    template <std::size_t... Kinds>
    static void visit_kinds(std::index_sequence<Kinds...>, const auto& visit) {
        (visit(std::variant_alternative_t<Kinds, OperatorKind>{}), ...);
    }
    void read_kind(ObjectReader& r, Operator& op) {
        int kinds = 0;
        std::vector<std::string_view> known;
        visit_kinds(std::make_index_sequence<std::variant_size_v<OperatorKind>>(), [&]<class Kind>(Kind kind) {
            if constexpr (!std::is_same_v<Kind, Exchange>) {
                known.push_back(kind_word(kind));
                const JsonNode node = r.get(kind_word(kind));
                if (!node.value) return;
                ++kinds;
                ObjectReader inner(node);
                kind_fields(kind, FieldReader<Kind>{inner, kind});
                if constexpr (std::is_same_v<Kind, Pointwise>) read_order(inner, kind);
                op.kind = std::move(kind);
            }
        });
        if (const JsonNode exchange = r.get(kind_word(Exchange{})); exchange.value)
            return exchange.complain("a network that is written out is of one device, and exchanges nothing",
                                     "the plan says how many devices there are");
        if (kinds != 1 && r) r.node().complain("an operator has exactly one kind", one_of(known));
    }
    // [extent, stride] or [extent, stride, start] of each axis.
    static void read_order(ObjectReader& r, Pointwise& p) {
        r.each("order", [&](const JsonNode& n) {
            const std::vector<JsonNode> numbers = n.elements();
            if (numbers.size() < 2 || numbers.size() > 3) return n.complain("an axis is [extent, stride] or [extent, stride, start]");
            CopyAxis& axis = p.order.emplace_back();
            read_value(numbers[0], axis.extent, extent_bound);
            read_value(numbers[1], axis.stride, Bounds{0, most_elements});
            if (numbers.size() > 2) read_value(numbers[2], axis.start, optional_extent);
        });
        if (p.order.size() > most_axes) r.get("order").complain("an order has at most 8 axes");
    }

    std::size_t& operators_;
    OperatorGraphBuilder builder_;
    std::map<std::string, TensorId, std::less<>> named_;
    std::vector<std::pair<std::size_t, JsonNode>> whole_;  // operators that were read without a problem
    std::size_t added_ = 0;
};

// An index, or [index, times].
void read_sequence(ObjectReader& r, Network& network) {
    const Bounds index{0, static_cast<double>(network.templates.size()) - 1}, times{1, static_cast<double>(most_blocks)};
    r.need("sequence", "the blocks in their order: the index of each, or [index, times]");
    r.each("sequence", [&](const JsonNode& n) {
        int block = 0, repeated = 1;
        const std::vector<JsonNode> pair = n.elements();
        if (n.is_array() && pair.size() != 2) return n.complain("what is repeated is [index, times]");
        if (!read_value(n.is_array() ? pair[0] : n, block, index) || (n.is_array() && !read_value(pair[1], repeated, times))) return;
        if (network.sequence.size() + static_cast<std::size_t>(repeated) > most_blocks) return n.complain("more than 10000 blocks");
        network.sequence.insert(network.sequence.end(), static_cast<std::size_t>(repeated), block);
    });
    if (const JsonNode sequence = r.get("sequence"); sequence.is_array() && sequence.elements().empty())
        sequence.complain("a network has at least one block");
}

// Beside what comes from the data, a block reads what the one before it hands on, in its order. What it leaves at the end is dropped.
void check_joints(const JsonNode& node, const Network& network) {
    std::vector<std::pair<int, int>> checked;
    for (std::size_t i = 1; i < network.sequence.size(); ++i) {
        const std::pair joint{network.sequence[i - 1], network.sequence[i]};
        if (std::ranges::find(checked, joint) != checked.end()) continue;
        checked.push_back(joint);
        const OperatorGraph &before = network.block(i - 1).graph, &behind = network.block(i).graph;
        std::vector<std::pair<std::vector<std::int64_t>, TensorRole>> handed, read;
        for (const TensorId id : before.outputs()) handed.emplace_back(before.tensor(id).shape, before.tensor(id).role);
        for (const TensorId id : behind.inputs())
            if (behind.tensor(id).role != TensorRole::index) read.emplace_back(behind.tensor(id).shape, behind.tensor(id).role);
        handed.resize(std::min(handed.size(), read.size()));
        if (handed != read)
            node.complain("block " + std::to_string(joint.first) + " hands on other tensors than block " + std::to_string(joint.second) +
                              " behind it reads",
                          "as many, of the same shapes and roles, in the same order; indices come from the data");
    }
}

}  // namespace

GraphSpec read_graph(const JsonNode& node) {
    GraphSpec spec;
    ObjectReader r(node);
    const std::size_t problems = node.diagnostics->list().size();
    std::size_t operators = 0;
    const JsonNode blocks = r.need("blocks");
    if (blocks.elements().size() > most_blocks) {
        blocks.complain("more than 10000 blocks");
        return spec;
    }
    r.each("blocks", [&](const JsonNode& n) { spec.network.templates.push_back(BlockReader(operators).read(n)); });
    r.optional("only_predicted", spec.only_predicted);
    if (blocks.is_array() && blocks.elements().empty()) blocks.complain("a network has at least one block");
    if (spec.network.templates.empty()) {
        r.ignore_others();
        return spec;
    }
    read_sequence(r, spec.network);
    if (node.diagnostics->list().size() != problems) return spec;
    if (spec.network.block(0).graph.inputs().empty()) blocks.complain("the first block has no input", "it reads the data");
    if (spec.network.parameters() > most_parameters) r.get("sequence").complain("more than 10^13 parameters, which no network has");
    check_joints(r.get("sequence"), spec.network);
    return spec;
}

}  // namespace sextant
