#include "model/io/workload/hf_parts.hpp"

#include <algorithm>
#include <vector>

namespace sextant {

void refuse(ObjectReader& r, std::string_view key, std::string why) {
    r.get(key).complain(std::move(why), "no workload says this exactly");
}

// A flag that must have the one value that maps, where it is stated.
void must_be(ObjectReader& r, std::string_view key, bool wanted) {
    bool found = wanted;
    if (r.optional(key, found) && found != wanted) refuse(r, key, found ? "not supported when true" : "not supported when false");
}

// Which activation, by the names of transformers.activations; all variants of GELU cost the same here.
void read_activation(ObjectReader& r, std::string_view key, std::string activation, bool gated, MlpKind& mlp) {
    r.optional(key, activation);
    if (activation.starts_with("gelu") || activation == "quick_gelu")
        mlp = gated ? MlpKind::geglu : MlpKind::gelu;
    else if (gated && (activation == "silu" || activation == "swish"))
        mlp = MlpKind::swiglu;
    else if (!gated && (activation == "silu" || activation == "swish"))
        mlp = MlpKind::silu;
    else if (!gated && activation == "relu")
        mlp = MlpKind::relu;
    else if (!gated && activation == "relu2")
        mlp = MlpKind::squared_relu;
    else
        refuse(r, key, "activation \"" + activation + "\" is not supported here");
}

void read_sizes(ObjectReader& r, TransformerSpec& spec, std::string_view ffn_key) {
    r.required("num_hidden_layers", spec.layers, layer_count);
    r.required("hidden_size", spec.hidden, width_bound);
    r.required(ffn_key, spec.ffn_hidden, width_bound);
    r.required("num_attention_heads", spec.heads, width_bound);
    spec.kv_heads = spec.heads;
}

void read_vocabulary(ObjectReader& r, std::string_view positions, bool tied, TransformerSpec& spec) {
    r.required("vocab_size", spec.vocab, width_bound);
    r.required(positions, spec.seq_len, length_bound);
    read_tied(r, tied, spec);
}

void read_tied(ObjectReader& r, bool otherwise, TransformerSpec& spec) {
    spec.tied_embeddings = otherwise;
    r.optional("tie_word_embeddings", spec.tied_embeddings);
}

void read_dropout(ObjectReader& r, std::initializer_list<std::string_view> keys, double otherwise, TransformerSpec& spec) {
    spec.dropout = false;
    for (const std::string_view key : keys) {
        double dropped = otherwise;
        r.optional(key, dropped, fraction);
        spec.dropout |= dropped > 0;
    }
}

void apply_llama_defaults(TransformerSpec& spec) {
    spec.norm = NormKind::rms;
    spec.position = PositionKind::rotary;
    spec.bias = spec.dropout = false;
}

void read_llama_like(ObjectReader& r, TransformerSpec& spec, std::string_view ffn_key, bool gated) {
    read_sizes(r, spec, ffn_key);
    read_vocabulary(r, "max_position_embeddings", false, spec);
    r.optional("num_key_value_heads", spec.kv_heads, width_bound);
    r.optional("head_dim", spec.head_dim, width_bound);
    read_activation(r, "hidden_act", gated ? "silu" : "relu2", gated, spec.mlp);
    apply_llama_defaults(spec);
}

void read_windows(ObjectReader& r, std::int64_t full, TransformerSpec& spec) {
    const auto members = r.node().members();
    const bool mentioned = std::ranges::any_of(members, [](const auto& member) { return member.first == "sliding_window"; });
    spec.sliding_window = mentioned ? 0 : 4096;
    r.optional("sliding_window", spec.sliding_window, length_bound);
    spec.full_attention_every = full;
    const std::string_view pattern = r.has("_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
    if (!r.get(pattern).is_string()) r.optional(pattern, spec.full_attention_every, layer_count);  // letters are named below, too
    read_kinds_of_layers(r, spec);
}

void read_kinds_of_layers(ObjectReader& r, TransformerSpec& spec) {
    std::vector<std::string> kinds;
    if (!r.optional("layer_types", kinds)) return;
    const auto first = std::ranges::find(kinds, "full_attention"), none = kinds.end();
    const auto second = first == none ? none : std::find(first + 1, none, "full_attention");
    const std::int64_t before = first - kinds.begin(), every = first == none ? 0 : second != none ? second - first : before + 1;
    spec.full_attention_every = every;
    spec.full_attention_offset = before + 1 < every ? std::optional(before) : std::nullopt;
    for (std::int64_t i = 0; i < std::ssize(kinds); ++i) {
        const bool full = every > 0 && i % every == spec.full_attention_offset.value_or(every - 1);
        if (kinds[i] == (full ? "full_attention" : "sliding_attention")) continue;
        return refuse(r, "layer_types", "layers other than every n-th with full attention among such with windows are not supported");
    }
    if (std::ssize(kinds) != spec.layers) refuse(r, "layer_types", "there are " + std::to_string(kinds.size()) + " kinds of layers");
}

void read_text_part(ObjectReader& r, TransformerSpec& spec, void (*read)(ObjectReader&, TransformerSpec&)) {
    const JsonNode text = r.need("text_config");
    if (!text.value) return;
    ObjectReader inner(text);
    inner.ignore_others();
    read(inner, spec);
}

MixtureOfExperts& read_few_experts(ObjectReader& r, std::string_view count_key, TransformerSpec& spec) {
    MixtureOfExperts& moe = spec.moe.emplace();
    r.required(count_key, moe.experts, expert_bound);
    r.required("num_experts_per_tok", moe.topk, expert_bound);
    moe.ffn_hidden = spec.ffn_hidden;
    return moe;
}

MixtureOfExperts& read_experts(ObjectReader& r, std::string_view count_key, TransformerSpec& spec) {
    MixtureOfExperts& moe = read_few_experts(r, count_key, spec);
    r.required("moe_intermediate_size", moe.ffn_hidden, width_bound);
    return moe;
}

}  // namespace sextant
