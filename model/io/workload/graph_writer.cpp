#include "model/io/workload/graph_writer.hpp"

#include "model/io/workload/field_writer.hpp"
#include "model/io/workload/graph_fields.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

class GraphWriter {
public:
    explicit GraphWriter(const OperatorGraph& graph) : graph_(graph), names_(graph.tensors().size()) {}

    void write(Json& block) {
        Json &inputs = block["inputs"] = Json::array(), &operators = block["operators"] = Json::array();
        for (const TensorId id : graph_.inputs()) inputs.push_back(tensor(id, {}));
        for (const Operator& op : graph_.operators()) operators.push_back(json_of(op));
        block["outputs"] = names_of(graph_.outputs());
        if (!graph_.kept_for_writer().empty()) block["kept_for_writer"] = names_of(graph_.kept_for_writer());
    }

private:
    // A tensor that comes into being; a shape alone where it is an activation by the name of what makes it.
    Json tensor(TensorId id, const std::string& assumed) {
        const Tensor& t = graph_.tensor(id);
        std::string& name = names_[id.value] = t.name;
        for (int next = 2; !taken_.insert(name).second; ++next) name = t.name + "#" + std::to_string(next);
        if (name == assumed && t.role == TensorRole::activation) return t.shape;
        Json out = Json::object();
        if (name != assumed) out["name"] = name;
        out["shape"] = t.shape;
        if (t.role != TensorRole::activation) out["role"] = word_of(t.role, tensor_roles);
        return out;
    }
    Json json_of(const Operator& op) {
        Json out{{"name", op.name}};
        std::visit([&](const auto& kind) { out[std::string(kind_word(kind))] = of_kind(kind, op); }, op.kind);
        out["of"] = names_of(op.inputs);
        Json& makes = out["makes"] = Json::array();
        for (const TensorId id : op.outputs) makes.push_back(tensor(id, op.name));
        operator_fields(FieldWriter<Operator>{out, op, Operator{}});
        write_whole(out, "parameters", op.parameters);
        return out;
    }
    template <class Kind>
    Json of_kind(const Kind& kind, const Operator&) {
        Json out = Json::object();
        kind_fields(kind, FieldWriter<Kind>{out, kind, Kind{}});
        return out;
    }
    Json of_kind(const Pointwise& p, const Operator& op) {
        Json out = Json::object();
        Pointwise assumed;
        assumed.elements = graph_.tensor(op.outputs.front()).elements();
        kind_fields(p, FieldWriter<Pointwise>{out, p, assumed});
        write_whole(out, "elements", p.elements);
        for (const CopyAxis& axis : p.order) {
            Json written{axis.extent, axis.stride};
            if (axis.start != 0) written.push_back(axis.start);
            out["order"].push_back(std::move(written));
        }
        return out;
    }
    // Counts are reals in the model.
    static void write_whole(Json& out, const char* key, double count) {
        if (out.contains(key) && count == std::floor(count)) out[key] = static_cast<std::int64_t>(count);
    }
    [[nodiscard]] Json names_of(std::span<const TensorId> ids) const {
        Json names = Json::array();
        for (const TensorId id : ids) names.push_back(names_[id.value]);
        return names;
    }

    const OperatorGraph& graph_;
    std::vector<std::string> names_;  // by tensor
    std::set<std::string> taken_;
};

// The index of a template, or [index, times] where it stands several times in a row.
Json json_of_sequence(const std::vector<int>& sequence) {
    Json out = Json::array();
    for (std::size_t i = 0, end = 0; i < sequence.size(); i = end) {
        while (end < sequence.size() && sequence[end] == sequence[i]) ++end;
        out.push_back(end - i == 1 ? Json(sequence[i]) : Json{sequence[i], end - i});
    }
    return out;
}

}  // namespace

Json json_of(const GraphSpec& spec) {
    Json out = Json::object();
    Json& blocks = out["blocks"] = Json::array();
    for (const Block& block : spec.network.templates) {
        Json& written = blocks.emplace_back(Json{{"name", block.name}, {"role", word_of(block.role, block_roles)}});
        GraphWriter(block.graph).write(written);
    }
    out["sequence"] = json_of_sequence(spec.network.sequence);
    if (!spec.only_predicted.empty()) out["only_predicted"] = spec.only_predicted;
    return out;
}

}  // namespace sextant
