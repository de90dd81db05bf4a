#include "model/io/workload/workload_writer.hpp"

#include "model/io/format/json_text.hpp"
#include "model/io/workload/field_writer.hpp"
#include "model/io/workload/graph_writer.hpp"

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const TransformerSpec& spec) {
    TransformerSpec assumed;  // sizes are always written
    assumed.layers = assumed.hidden = assumed.ffn_hidden = assumed.heads = assumed.kv_heads = assumed.vocab = assumed.seq_len = 0;
    Json out = Json::object();
    transformer_fields(FieldWriter<TransformerSpec>{out, spec, assumed});
    if (spec.mla) latent_attention_fields(FieldWriter<LatentAttention>{out["mla"] = Json::object(), *spec.mla, LatentAttention{}});
    if (spec.moe) mixture_fields(FieldWriter<MixtureOfExperts>{out["moe"] = Json::object(), *spec.moe, MixtureOfExperts{}});
    if (spec.ssm) state_space_fields(FieldWriter<StateSpace>{out["ssm"] = Json::object(), *spec.ssm, StateSpace{}});
    if (spec.delta_rule) delta_rule_fields(FieldWriter<DeltaRule>{out["delta_rule"] = Json::object(), *spec.delta_rule, DeltaRule{}});
    if (spec.adapters) adapter_fields(FieldWriter<LowRankAdapters>{out["adapters"] = Json::object(), *spec.adapters, LowRankAdapters{}});
    return out;
}

Json json_of(const ConvolutionalSpec& spec) {
    ConvolutionalSpec assumed;
    assumed.name.clear();
    Json out = Json::object();
    convolutional_fields(FieldWriter<ConvolutionalSpec>{out, spec, assumed});
    return out;
}

Json json_of(const MlpSpec& spec) { return {{"widths", spec.widths}, {"activation", word_of(spec.activation, activation_kinds)}}; }

// What is as usual is left out.
Json window_of(const ChainLayer& l, Json out) {
    out["kernel"] = l.kernel;
    out["stride"] = l.stride;
    if (l.kernel_w) out["kernel_w"] = *l.kernel_w;
    if (l.padding) out["padding"] = *l.padding;
    if (l.round_up) out["round_up"] = true;
    return out;
}

// A word where the layer needs nothing, else an object of one key.
Json kind_of(const ChainLayer& l) {
    using Kind = ChainLayer::Kind;
    switch (l.kind) {
        case Kind::dense: return {{"dense", {{"width", l.width}, {"bias", l.bias}}}};
        case Kind::conv: {
            Json conv = window_of(l, {{"width", l.width}});
            conv["groups"] = l.groups;
            conv["bias"] = l.bias;
            if (l.dilation > 1) conv["dilation"] = l.dilation;
            if (l.transposed) conv["transposed"] = true;
            return {{"conv", conv}};
        }
        case Kind::norm:
            if (l.norm != NormKind::group) return {{"norm", word_of(l.norm, norm_kinds)}};
            return {{"norm", {{"kind", "group"}, {"groups", l.groups}}}};
        case Kind::activation: return {{"activation", word_of(l.function, activation_kinds)}};
        case Kind::pool:
            if (l.pooling == PoolingKind::global_average) return {{"pool", "global_average"}};
            return {{"pool", window_of(l, {{"kind", word_of(l.pooling, pooling_kinds)}})}};
        case Kind::upsample: return {{"upsample", {{"factor", l.stride}, {"kind", word_of(l.upsampling, upsampling_kinds)}}}};
        case Kind::dropout:
        case Kind::residual_begin:
        case Kind::residual_end: return word_of(l.kind, bare_layers);
        case Kind::add:
        case Kind::concat:
        case Kind::multiply: return word_of(l.kind, joining_layers);
    }
    return {};
}

Json json_of(const ChainLayer& l) {
    Json out = kind_of(l);
    if (l.name.empty() && l.from.empty()) return out;
    if (out.is_string()) out = {{out.get<std::string>(), Json::object()}};
    if (!l.name.empty()) out["name"] = l.name;
    if (!l.from.empty()) out["from"] = l.from;
    return out;
}

Json json_of(const ChainSpec& spec) {
    Json layers = Json::array();
    for (const ChainLayer& layer : spec.layers) layers.push_back(json_of(layer));
    Json out{{"input_shape", spec.input_shape}, {"layers", layers}, {"classes", spec.classes}};
    if (spec.per_pixel) out["per_pixel"] = true;
    return out;
}

const char* key_of(const TransformerSpec&) { return "transformer"; }
const char* key_of(const ConvolutionalSpec&) { return "convolutional"; }
const char* key_of(const MlpSpec&) { return "mlp"; }
const char* key_of(const ChainSpec&) { return "chain"; }
const char* key_of(const GraphSpec&) { return "graph"; }

}  // namespace

Json changed_fields(const Workload& from, const Workload& to) {
    Json out = Json::object();
    if (from.spec.index() != to.spec.index()) return out;
    if (const auto* is = std::get_if<TransformerSpec>(&to.spec)) {
        const auto& was = std::get<TransformerSpec>(from.spec);
        transformer_fields(FieldWriter<TransformerSpec>{out, *is, was});
        if (is->hidden != was.hidden) out["ffn_hidden"] = is->ffn_hidden;  // follows where it is not stated
        if (is->moe && was.moe && is->moe->ffn_hidden != was.moe->ffn_hidden) out["moe.ffn_hidden"] = is->moe->ffn_hidden;
    } else if (const auto* mlp = std::get_if<MlpSpec>(&to.spec); mlp && mlp->widths != std::get<MlpSpec>(from.spec).widths) {
        out["widths"] = mlp->widths;
    }
    return out;
}

std::string write_workload(const Workload& workload) {
    Json out = {{"schema", "workload/1"}, {"name", workload.name}, {"title", workload.title}};
    if (!workload.source.empty()) out["source"] = workload.source;
    std::visit([&](const auto& spec) { out[key_of(spec)] = json_of(spec); }, workload.spec);
    constexpr std::size_t width = 140;
    return std::holds_alternative<GraphSpec>(workload.spec) ? json_lines(out, width) : json_document(out);
}

}  // namespace sextant
