#include "model/io/workload/workload_reader.hpp"

#include "model/base/list_text.hpp"
#include "model/base/spelling.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/onnx/onnx_import.hpp"
#include "model/io/torch/torch_import.hpp"
#include "model/io/workload/field_reader.hpp"
#include "model/io/workload/graph_reader.hpp"
#include "model/io/workload/hf_import.hpp"

namespace sextant {
namespace {

constexpr std::size_t max_layers = 10000;

// ---- transformers

// Whether the network can be built is build_network's to say; that a sequence was lengthened beyond the model's positions shows only here.
void check_positions(const JsonNode& node, const TransformerSpec& spec) {
    if (!has_table(spec.position) || spec.max_positions == 0) return;
    for (const auto& [key, length] : {std::pair{"seq_len", spec.seq_len}, {"decoder_seq_len", spec.decoder_seq_len}})
        if (length > spec.max_positions)
            node.child(key).complain("longer than the " + std::to_string(spec.max_positions) + " positions that the model has a table of",
                                     "raise max_positions too, or shorten the sequence");
}

// What a network may have or not, with fields of its own; `needed`: one that has no usual value.
template <class Part, class Fields>
void read_part(ObjectReader& r, std::string_view name, std::optional<Part>& part, const Fields& fields, std::string_view needed = {}) {
    const JsonNode node = r.get(name);
    if (!node.value) return;
    ObjectReader inner(node);
    if (!part && !needed.empty()) inner.need(needed, "it has no usual value");
    fields(FieldReader<Part>{inner, part ? *part : part.emplace()});
}

void read_transformer(ObjectReader& r, TransformerSpec& spec) {
    const bool heads_were_alike = spec.kv_heads == spec.heads;
    transformer_fields(FieldReader<TransformerSpec>{r, spec});
    if (heads_were_alike && !r.has("kv_heads")) spec.kv_heads = spec.heads;
    read_part(r, "mla", spec.mla, [](const auto& visit) { latent_attention_fields(visit); });
    read_part(
        r, "moe", spec.moe, [](const auto& visit) { mixture_fields(visit); }, "ffn_hidden");
    read_part(r, "ssm", spec.ssm, [](const auto& visit) { state_space_fields(visit); });
    read_part(r, "delta_rule", spec.delta_rule, [](const auto& visit) { delta_rule_fields(visit); });
    if (r.has("layer_pattern") && !r.has("layers")) spec.layers = static_cast<std::int64_t>(spec.layer_pattern.size());
    read_part(r, "adapters", spec.adapters, [](const auto& visit) { adapter_fields(visit); });
}

void read_new_transformer(const JsonNode& node, TransformerSpec& spec) {
    ObjectReader r(node);
    for (const char* key : {"hidden", "heads"}) r.need(key);
    if (!r.has("layer_pattern")) r.need("layers");
    read_transformer(r, spec);
    if (spec.kind != TransformerKind::vision)
        for (const char* key : {"vocab", "seq_len"}) r.need(key);
    if (r.has("ffn_hidden")) return;
    spec.ffn_hidden = 4 * spec.hidden;
    if (has_gate(spec.mlp)) r.need("ffn_hidden", "a gated MLP has no customary width; without a gate it is 4 x hidden");
}

// ---- networks without attention

void read_mlp(ObjectReader& r, MlpSpec& spec) {
    if (const JsonNode widths = r.get("widths"); widths.value) {
        spec.widths.clear();
        r.each("widths", [&](const JsonNode& n) {
            std::int64_t width = 0;
            if (read_value(n, width, width_bound)) spec.widths.push_back(width);
        });
        if (widths.is_array() && (widths.elements().size() < 2 || widths.elements().size() > max_layers))
            widths.complain("an MLP has an input width, an output width and at most 10000 in all", "as in [784, 4096, 10]");
    }
    r.word("activation", spec.activation, activation_kinds);
}

using LayerKind = ChainLayer::Kind;

void read_dense(ObjectReader& r, ChainLayer& layer) {
    r.required("width", layer.width, width_bound);
    r.optional("bias", layer.bias);
}

void read_conv(ObjectReader& r, ChainLayer& layer) {
    r.required("width", layer.width, width_bound);
    r.required("kernel", layer.kernel, pixel_bound);
    r.optional("stride", layer.stride, pixel_bound);
    r.optional("groups", layer.groups, width_bound);
    r.optional("kernel_w", layer.kernel_w, pixel_bound);
    r.optional("padding", layer.padding, padding_bound);
    r.optional("dilation", layer.dilation, pixel_bound);
    r.optional("transposed", layer.transposed);
    r.optional("bias", layer.bias);
}

// "batch", or {"kind": "group", "groups": 32}
void read_norm(ObjectReader& r, ChainLayer& layer) {
    const JsonNode node = r.get("norm");
    if (!node.is_object()) {
        r.word("norm", layer.norm, norm_kinds);
        return;
    }
    ObjectReader inner(node);
    inner.word("kind", layer.norm, norm_kinds);
    inner.optional("groups", layer.groups, width_bound);
}

void read_pool(const JsonNode& node, ChainLayer& layer) {
    if (node.is_string()) {
        std::string found;
        read_value(node, found);
        if (found == "global_average")
            layer.pooling = PoolingKind::global_average;
        else
            node.complain("\"" + found + "\" needs its window", R"(as in {"pool": {"kind": "max", "kernel": 2, "stride": 2}})");
        return;
    }
    ObjectReader r(node);
    r.word("kind", layer.pooling, pooling_kinds);
    if (layer.pooling == PoolingKind::global_average) return;
    r.required("kernel", layer.kernel, pixel_bound);
    layer.stride = layer.kernel;
    r.optional("stride", layer.stride, pixel_bound);
    r.optional("padding", layer.padding, padding_bound);
    r.optional("round_up", layer.round_up);
}

void read_upsample(const JsonNode& node, ChainLayer& layer) {
    ObjectReader r(node);
    r.required("factor", layer.stride, pixel_bound);
    r.word("kind", layer.upsampling, upsampling_kinds);
}

// {"<kind>": what it needs}, or the kind alone for a layer that needs nothing. Beside the kind: "name", and "from", the names of what it
// reads.
void read_layer(const JsonNode& node, ChainLayer& layer) {
    if (node.is_string()) {
        std::string found;
        read_value(node, found);
        std::vector<std::string_view> known;
        for (const auto& w : bare_layers) {
            known.push_back(w.text);
            if (w.text != found) continue;
            layer.kind = w.value;
            return;
        }
        complain_about_word(node, found, known);
        return;
    }
    ObjectReader r(node);
    int kinds = 0;
    const auto is = [&](std::string_view key, LayerKind kind) {
        if (!r.has(key)) return false;
        layer.kind = kind;
        return ++kinds == 1;
    };
    if (is("dense", LayerKind::dense)) {
        ObjectReader inner(r.get("dense"));
        read_dense(inner, layer);
    }
    if (is("conv", LayerKind::conv)) {
        ObjectReader inner(r.get("conv"));
        read_conv(inner, layer);
    }
    if (is("pool", LayerKind::pool)) read_pool(r.get("pool"), layer);
    if (is("upsample", LayerKind::upsample)) read_upsample(r.get("upsample"), layer);
    if (is("norm", LayerKind::norm)) read_norm(r, layer);
    if (is("dropout", LayerKind::dropout)) ObjectReader nothing(r.get("dropout"));
    for (const auto& w : joining_layers)
        if (is(w.text, w.value)) ObjectReader nothing(r.get(w.text));
    if (is("activation", LayerKind::activation)) r.word("activation", layer.function, activation_kinds);
    r.optional("name", layer.name);
    r.each("from", [&](const JsonNode& n) { read_value(n, layer.from.emplace_back()); });
    if (kinds != 1 && r) node.complain("a layer has exactly one kind", R"(as in {"dense": {"width": 512}} or "dropout")");
}

void read_chain(const JsonNode& node, ChainSpec& spec) {
    ObjectReader r(node);
    r.need("input_shape", "[features], or [channels, height, width]");
    r.each("input_shape", [&](const JsonNode& n) {
        std::int64_t extent = 0;
        if (read_value(n, extent, width_bound)) spec.input_shape.push_back(extent);
    });
    const JsonNode layers = r.need("layers");
    r.optional("classes", spec.classes, width_bound);
    r.optional("per_pixel", spec.per_pixel);
    if (layers.is_array() && (layers.elements().empty() || layers.elements().size() > max_layers))
        return layers.complain("a chain has 1 to 10000 layers");
    r.each("layers", [&](const JsonNode& n) { read_layer(n, spec.layers.emplace_back()); });
}

// ---- the whole

// The fields of a known model may be overridden beside its name.
void read_overrides(ObjectReader& r, Workload& workload) {
    if (auto* spec = std::get_if<TransformerSpec>(&workload.spec)) {
        read_transformer(r, *spec);
        check_positions(r.node(), *spec);
    } else if (auto* cnn = std::get_if<ConvolutionalSpec>(&workload.spec)) {
        r.optional("image_px", cnn->image_px, pixel_bound);
        r.optional("channels", cnn->channels, pixel_bound);
        r.optional("classes", cnn->classes, width_bound);
    } else if (auto* mlp = std::get_if<MlpSpec>(&workload.spec)) {
        read_mlp(r, *mlp);
    }
}

// The models that may be meant, else the nearest of the family, which begin with the same letters.
std::string hint_for_model(std::string_view name) {
    const std::vector<std::string> listed = workload_names(), aliases = workload_aliases();
    std::vector<std::string_view> known{listed.begin(), listed.end()};
    known.insert(known.end(), aliases.begin(), aliases.end());
    if (const auto near = nearest_numbered_names(name, known, 3); !near.empty()) return hint_for_profile(near);
    const std::string letters = lower_case(name.substr(0, name.find_first_of("0123456789-_. ")));
    std::erase_if(known, [&](std::string_view n) { return letters.size() < 2 || !n.starts_with(letters); });
    const std::string family = joined(nearest_names(name, known, 3));
    return (family.empty() ? "" : "there are " + family + ". ") + hint_for_profile({});
}

// Where models are looked up, and how many files lie between here and where reading began, each named by the one before it.
struct Models {
    const FindWorkload& find;
    int files = 0;
};
constexpr int most_files = 16;  // nobody writes as many: they name one another in a circle

bool read_file(const JsonFile&, const Models&, Workload&);

// A model as another program wrote it, beside the file that names it.
template <class Import>
bool import_file(const JsonNode& node, const std::string& name, const Import& import, Workload& workload) {
    try {
        workload = import(std::filesystem::path(file_beside(*node.file, name)));
        return true;
    } catch (const InputError& e) {
        for (const Diagnostic& d : e.diagnostics()) node.diagnostics->add(d);
        return false;
    }
}

bool find_model(const JsonNode& node, const Models& models, Workload& workload) {
    std::string name;
    if (!read_value(node, name)) return false;
    using Path = const std::filesystem::path&;
    if (name.ends_with(".pt2"))
        return import_file(
            node, name, [](Path p) { return import_torch(p); }, workload);
    if (name.ends_with(".onnx"))
        return import_file(
            node, name, [](Path p) { return import_onnx(p); }, workload);
    if (!name.ends_with(".json")) {
        const std::optional<Workload> found = models.find(name);
        if (!found) return complain_unknown(node, name, hint_for_model(name)), false;
        workload = *found;
        return true;
    }
    if (models.files == most_files)
        return node.complain("the file names itself, or files that name it", "describe the network in one of them"), false;
    return read_file(JsonFile::load(file_beside(*node.file, name), *node.diagnostics), {models.find, models.files + 1}, workload);
}

void read_spec(ObjectReader& r, std::string_view kind, const Models& models, Workload& workload) {
    const JsonNode node = r.get(kind);
    if (kind == "model") {
        if (find_model(node, models, workload)) return read_overrides(r, workload);
        r.ignore_others();  // what may be overridden depends on the model
    } else if (kind == "transformer") {
        TransformerSpec spec;
        read_new_transformer(node, spec);
        check_positions(node, spec);
        workload.spec = spec;
    } else if (kind == "convolutional") {
        ConvolutionalSpec spec;
        ObjectReader inner(node);
        inner.need("name", "as in \"resnet50\"");
        convolutional_fields(FieldReader<ConvolutionalSpec>{inner, spec});
        workload.spec = spec;
        workload.name = spec.name;
    } else if (kind == "mlp") {
        MlpSpec spec;
        ObjectReader inner(node);
        inner.need("widths", "as in [784, 4096, 10]");
        read_mlp(inner, spec);
        workload.spec = spec;
    } else if (kind == "chain") {
        ChainSpec spec;
        read_chain(node, spec);
        workload.spec = std::move(spec);
    } else {
        workload.spec = read_graph(node);
    }
}

bool read_object(ObjectReader& r, const Models& models, Workload& workload) {
    const JsonNode& node = r.node();
    if (!node.value) return false;
    const std::size_t problems = node.diagnostics->list().size();
    std::vector<std::string_view> kinds;
    for (const std::string_view kind : {"model", "transformer", "convolutional", "mlp", "chain", "graph"})
        if (r.has(kind)) kinds.push_back(kind);
    if (kinds.size() == 1) {
        workload.name = "custom " + std::string(kinds.front());
        read_spec(r, kinds.front(), models, workload);
    } else {
        node.complain(kinds.empty() ? "no network is named" : "more than one network is named",
                      "exactly one of model, transformer, convolutional, mlp, chain, graph");
    }
    r.optional("name", workload.name);
    r.optional("title", workload.title);
    r.optional("source", workload.source);
    if (workload.title.empty()) workload.title = workload.name;
    return node.diagnostics->list().size() == problems;
}

bool read_file(const JsonFile& file, const Models& models, Workload& workload) {
    ObjectReader r(file.root());
    if (!r.has("schema") && r.has("model_type")) {
        r.ignore_others();
        const std::size_t problems = file.root().diagnostics->list().size();
        workload = import_hf_config(file).workload;
        return file.root().diagnostics->list().size() == problems;
    }
    r.schema("workload/1");
    return read_object(r, models, workload);
}

}  // namespace

std::optional<Workload> read_workload(const JsonNode& node, const FindWorkload& find) {
    Workload workload;
    if (node.is_string()) return find_model(node, {find}, workload) ? std::optional(std::move(workload)) : std::nullopt;
    if (node.value && !node.is_object()) {
        node.complain("a workload is a name or an object", R"(as in "gpt3-175b" or {"model": "gpt3-175b", "seq_len": 4096})");
        return std::nullopt;
    }
    ObjectReader r(node);
    if (!read_object(r, {find}, workload)) return std::nullopt;
    return workload;
}

std::optional<Workload> read_workload_file(const JsonFile& file, const FindWorkload& find) {
    Workload workload;
    if (!read_file(file, {find}, workload)) return std::nullopt;
    return workload;
}

}  // namespace sextant
