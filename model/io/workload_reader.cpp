#include "model/io/workload_reader.hpp"

#include "model/io/workload_fields.hpp"

namespace sextant {
namespace {

constexpr std::size_t max_layers = 10000;

template <class Spec>
struct FieldReader {
    ObjectReader& reader;
    Spec& spec;

    template <class T, class... Rules>
    void operator()(std::string_view name, T Spec::*field, const Rules&... rules) const {
        reader.optional(name, spec.*field, rules...);
    }
    template <class E, std::size_t N>
    void operator()(std::string_view name, E Spec::*field, const Word<E> (&words)[N]) const {
        reader.word(name, spec.*field, words);
    }
};

std::string text(std::int64_t n) { return std::to_string(n); }

// ---- transformers

void check_experts(const JsonNode& node, const MixtureOfExperts& moe, std::int64_t layers) {
    if (moe.topk > moe.experts)
        node.child("topk").complain("topk " + text(moe.topk) + " is more than the " + text(moe.experts) + " experts");
    if (moe.ffn_hidden == 0) node.child("ffn_hidden").complain("\"ffn_hidden\" is missing", "the inner width of one expert");
    if (moe.dense_layers >= layers)
        node.child("dense_layers").complain("leaves no layer for the experts: the model has " + text(layers) + " layers");
}

void check_transformer(const JsonNode& node, const TransformerSpec& spec) {
    if (spec.heads % spec.kv_heads != 0)
        node.child("kv_heads").complain("kv_heads must divide heads: " + text(spec.kv_heads) + " does not divide " + text(spec.heads));
    if (spec.head_dim == 0 && spec.hidden % spec.heads != 0)
        node.child("heads").complain("heads must divide hidden: " + text(spec.heads) + " does not divide " + text(spec.hidden),
                                     "or state head_dim, where heads x head_dim is not hidden");
    if (spec.position == PositionKind::learned && spec.max_positions != 0 && spec.seq_len > spec.max_positions)
        node.child("seq_len").complain("longer than the " + text(spec.max_positions) + " learned positions of the model",
                                       "raise max_positions too, or shorten the sequence");
    if (spec.kind == TransformerKind::encoder_decoder && spec.decoder_layers == 0)
        node.child("decoder_layers").complain("\"decoder_layers\" is missing", "an encoder_decoder has layers and decoder_layers");
    if (spec.kind == TransformerKind::vision && spec.image_px % spec.patch_px != 0)
        node.child("patch_px").complain("patches of " + text(spec.patch_px) + " pixels do not tile an image of " + text(spec.image_px));
    if (spec.moe) check_experts(node.child("moe"), *spec.moe, spec.layers);
}

void read_transformer(ObjectReader& r, TransformerSpec& spec) {
    const bool heads_were_alike = spec.kv_heads == spec.heads;
    transformer_fields(FieldReader<TransformerSpec>{r, spec});
    if (heads_were_alike && !r.has("kv_heads")) spec.kv_heads = spec.heads;
    if (const JsonNode n = r.get("mla"); n.value) {
        ObjectReader inner(n);
        LatentAttention mla = spec.mla.value_or(LatentAttention{});
        latent_attention_fields(FieldReader<LatentAttention>{inner, mla});
        spec.mla = mla;
    }
    if (const JsonNode n = r.get("moe"); n.value) {
        ObjectReader inner(n);
        MixtureOfExperts moe = spec.moe.value_or(MixtureOfExperts{});
        mixture_fields(FieldReader<MixtureOfExperts>{inner, moe});
        spec.moe = moe;
    }
}

void read_new_transformer(const JsonNode& node, TransformerSpec& spec) {
    ObjectReader r(node);
    for (const char* key : {"layers", "hidden", "heads"}) r.need(key);
    read_transformer(r, spec);
    if (spec.kind != TransformerKind::vision)
        for (const char* key : {"vocab", "seq_len"}) r.need(key);
    if (r.has("ffn_hidden")) return;
    spec.ffn_hidden = 4 * spec.hidden;
    const bool gated = spec.mlp == MlpKind::swiglu || spec.mlp == MlpKind::geglu;
    if (gated) r.need("ffn_hidden", "a gated MLP has no customary width; without a gate it is 4 x hidden");
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
    r.optional("bias", layer.bias);
    if (layer.width % layer.groups != 0)
        r.get("groups").complain("groups must divide width: " + text(layer.groups) + " does not divide " + text(layer.width));
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
}

// {"<kind>": what it needs}, or the kind alone for a layer that needs nothing.
void read_layer(const JsonNode& node, ChainLayer& layer) {
    static constexpr Word<LayerKind> bare[] = {
        {"dropout", LayerKind::dropout}, {"residual_begin", LayerKind::residual_begin}, {"residual_end", LayerKind::residual_end}};
    if (node.is_string()) {
        std::string found;
        read_value(node, found);
        std::vector<std::string_view> known;
        for (const auto& w : bare) {
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
    if (is("norm", LayerKind::norm)) r.word("norm", layer.norm, norm_kinds);
    if (is("activation", LayerKind::activation)) r.word("activation", layer.function, activation_kinds);
    if (kinds != 1 && r.node().value) node.complain("a layer has exactly one kind", R"(as in {"dense": {"width": 512}} or "dropout")");
}

void check_chain(const JsonNode& node, const ChainSpec& spec) {
    const std::vector<JsonNode> nodes = node.child("layers").elements();
    std::vector<std::size_t> open;
    bool spatial = spec.input_shape.size() == 3;
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
        const ChainLayer& l = spec.layers[i];
        if (l.kind == LayerKind::residual_begin) open.push_back(i);
        if (l.kind == LayerKind::residual_end) {
            if (open.empty())
                nodes[i].complain("residual_end without residual_begin");
            else
                open.pop_back();
        }
        if ((l.kind == LayerKind::conv || l.kind == LayerKind::pool) && !spatial)
            nodes[i].complain("works on images, but here the data is a vector",
                              "the input_shape of images is [channels, height, width]; a dense layer ends the images");
        if (l.kind == LayerKind::dense) spatial = false;
    }
    for (const std::size_t i : open) nodes[i].complain("residual_begin without residual_end");
}

void read_chain(const JsonNode& node, ChainSpec& spec) {
    ObjectReader r(node);
    r.need("input_shape", "[features], or [channels, height, width]");
    r.each("input_shape", [&](const JsonNode& n) {
        std::int64_t extent = 0;
        if (read_value(n, extent, width_bound)) spec.input_shape.push_back(extent);
    });
    if (const JsonNode shape = r.get("input_shape"); shape.is_array() && shape.elements().size() != 1 && shape.elements().size() != 3)
        shape.complain("an input has one extent or three", "[features], or [channels, height, width]");
    const JsonNode layers = r.need("layers");
    if (layers.is_array() && (layers.elements().empty() || layers.elements().size() > max_layers))
        return layers.complain("a chain has 1 to 10000 layers");
    r.each("layers", [&](const JsonNode& n) { read_layer(n, spec.layers.emplace_back()); });
    r.optional("classes", spec.classes, width_bound);
    check_chain(node, spec);
}

// ---- the whole

// The fields of a known model may be overridden beside its name.
void read_overrides(ObjectReader& r, Workload& workload) {
    if (auto* spec = std::get_if<TransformerSpec>(&workload.spec)) {
        read_transformer(r, *spec);
        check_transformer(r.node(), *spec);
    } else if (auto* cnn = std::get_if<ConvolutionalSpec>(&workload.spec)) {
        r.optional("image_px", cnn->image_px, pixel_bound);
        r.optional("channels", cnn->channels, pixel_bound);
        r.optional("classes", cnn->classes, width_bound);
    } else if (auto* mlp = std::get_if<MlpSpec>(&workload.spec)) {
        read_mlp(r, *mlp);
    }
}

bool find_model(const JsonNode& node, const WorkloadSource& source, Workload& workload) {
    std::string name;
    if (!read_value(node, name)) return false;
    if (std::optional<Workload> found = source.find(name)) {
        workload = std::move(*found);
        return true;
    }
    complain_about_word(node, name, {source.names.begin(), source.names.end()});
    return false;
}

void read_spec(ObjectReader& r, std::string_view kind, const WorkloadSource& source, Workload& workload) {
    const JsonNode node = r.get(kind);
    if (kind == "model") {
        if (find_model(node, source, workload)) return read_overrides(r, workload);
        for (const auto& [key, value] : r.node().members()) r.get(key);  // what may be overridden depends on the model
    } else if (kind == "transformer") {
        TransformerSpec spec;
        read_new_transformer(node, spec);
        check_transformer(node, spec);
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
    } else {
        ChainSpec spec;
        read_chain(node, spec);
        workload.spec = std::move(spec);
    }
}

bool read_object(ObjectReader& r, const WorkloadSource& source, Workload& workload) {
    const JsonNode& node = r.node();
    if (!node.value) return false;
    const std::size_t problems = node.diagnostics->list().size();
    std::vector<std::string_view> kinds;
    for (const std::string_view kind : {"model", "transformer", "convolutional", "mlp", "chain"})
        if (r.has(kind)) kinds.push_back(kind);
    if (kinds.size() == 1) {
        workload.name = "custom " + std::string(kinds.front());
        read_spec(r, kinds.front(), source, workload);
    } else {
        node.complain(kinds.empty() ? "no network is named" : "more than one network is named",
                      "exactly one of model, transformer, convolutional, mlp, chain");
    }
    r.optional("name", workload.name);
    r.optional("title", workload.title);
    r.optional("source", workload.source);
    if (workload.title.empty()) workload.title = workload.name;
    return node.diagnostics->list().size() == problems;
}

}  // namespace

std::optional<Workload> read_workload(const JsonNode& node, const WorkloadSource& source) {
    Workload workload;
    if (node.is_string()) return find_model(node, source, workload) ? std::optional(std::move(workload)) : std::nullopt;
    if (node.value && !node.is_object()) {
        node.complain("a workload is a name or an object", R"(as in "gpt3-175b" or {"model": "gpt3-175b", "seq_len": 4096})");
        return std::nullopt;
    }
    ObjectReader r(node);
    if (!read_object(r, source, workload)) return std::nullopt;
    return workload;
}

std::optional<Workload> read_workload_file(const JsonFile& file, const WorkloadSource& source) {
    Workload workload;
    ObjectReader r(file.root());
    r.schema("workload/1");
    if (!read_object(r, source, workload)) return std::nullopt;
    return workload;
}

}  // namespace sextant
