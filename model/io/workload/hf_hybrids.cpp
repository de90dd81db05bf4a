// Hybrids of state spaces and attention.
#include "model/io/workload/hf_parts.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sextant {
namespace {

// The layers as one string of letters, or as a list of words.
void read_pattern(ObjectReader& r, TransformerSpec& spec) {
    constexpr std::pair<std::string_view, char> words[] = {{"mamba", 'M'}, {"attention", '*'}, {"mlp", '-'}, {"moe", 'E'}};
    if (!r.has("layers_block_type")) {
        r.required("hybrid_override_pattern", spec.layer_pattern);
    } else {
        r.each("layers_block_type", [&](const JsonNode& n) {
            std::string word;
            if (!read_value(n, word)) return;
            const auto* found = std::ranges::find(words, word, &std::pair<std::string_view, char>::first);
            if (found == std::end(words)) return n.complain("no layer is called " + word, "mamba, attention, mlp or moe");
            spec.layer_pattern += found->second;
        });
    }
    spec.layers = static_cast<std::int64_t>(spec.layer_pattern.size());
}

// What families call the numbers of a state space.
struct StateSpaceKeys {
    std::string_view heads, head_dim, state, groups = "n_groups", kernel = "conv_kernel", chunk = "chunk_size";
};

void read_state_space(ObjectReader& r, const StateSpaceKeys& keys, TransformerSpec& spec) {
    StateSpace& ssm = spec.ssm.emplace();
    r.required(keys.heads, ssm.heads, width_bound);
    r.required(keys.head_dim, ssm.head_dim, width_bound);
    r.required(keys.state, ssm.state, width_bound);
    r.required(keys.groups, ssm.groups, width_bound);
    r.optional(keys.kernel, ssm.kernel, width_bound);
    r.optional(keys.chunk, ssm.chunk, width_bound);
    spec.norm = NormKind::rms;
    spec.position = PositionKind::none;
    spec.bias = spec.dropout = false;
}

void nemotron_h(ObjectReader& r, TransformerSpec& spec) {
    r.required("hidden_size", spec.hidden, width_bound);
    r.required("intermediate_size", spec.ffn_hidden, width_bound);
    r.required("num_attention_heads", spec.heads, width_bound);
    r.required("num_key_value_heads", spec.kv_heads, width_bound);
    r.required("head_dim", spec.head_dim, width_bound);
    read_vocabulary(r, "max_position_embeddings", false, spec);
    read_pattern(r, spec);
    read_state_space(r, {"mamba_num_heads", "mamba_head_dim", "ssm_state_size"}, spec);
    for (const char* bias : {"mamba_proj_bias", "use_bias", "attention_bias", "mlp_bias"}) must_be(r, bias, false);
    spec.mlp = MlpKind::squared_relu;
    r.optional("num_nextn_predict_layers", spec.mtp_layers, Bounds{0, layer_count.high});
    if (spec.layer_pattern.find('E') == std::string::npos) return;
    MixtureOfExperts& moe = read_experts(r, "n_routed_experts", spec);
    r.optional("moe_shared_expert_intermediate_size", moe.shared_ffn_hidden, optional_width);
    r.optional("moe_latent_size", moe.latent, optional_width);
    moe.sigmoid_router = true;
}

// Each of its layers is two of a hybrid: what mixes tokens, and experts beside an MLP, or that alone.
void granitemoehybrid(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec, "shared_intermediate_size");
    read_tied(r, true, spec);
    for (const char* bias : {"mamba_proj_bias", "attention_bias"}) must_be(r, bias, false);
    must_be(r, "mamba_conv_bias", true);
    std::int64_t experts = 0;
    r.optional("num_local_experts", experts, Bounds{0, expert_bound.high});
    if (experts > 0) {
        MixtureOfExperts& moe = read_few_experts(r, "num_local_experts", spec);
        moe.shared_ffn_hidden = spec.ffn_hidden;
        r.required("intermediate_size", moe.ffn_hidden, width_bound);
    }
    std::vector<std::string> kinds;
    r.required("layer_types", kinds);
    for (const std::string& kind : kinds) {
        if (kind != "mamba" && kind != "attention") return refuse(r, "layer_types", "no layer is called " + kind);
        (spec.layer_pattern += kind == "mamba" ? 'M' : '*') += experts > 0 ? 'E' : '-';
    }
    if (std::ssize(kinds) != spec.layers) refuse(r, "layer_types", "there are " + std::to_string(kinds.size()) + " kinds of layers");
    spec.layers *= 2;
    if (std::ranges::find(kinds, "mamba") != kinds.end())
        read_state_space(r, {"mamba_n_heads", "mamba_d_head", "mamba_d_state", "mamba_n_groups", "mamba_d_conv", "mamba_chunk_size"}, spec);
    std::string positions = "nope";
    r.optional("position_embedding_type", positions);
    spec.position = positions == "rope" ? PositionKind::rotary : PositionKind::none;
}

void mamba2(ObjectReader& r, TransformerSpec& spec) {
    r.required("hidden_size", spec.hidden, width_bound);
    r.required("num_hidden_layers", spec.layers, layer_count);
    r.required("vocab_size", spec.vocab, width_bound);
    r.optional("tie_word_embeddings", spec.tied_embeddings);
    read_state_space(r, {"num_heads", "head_dim", "state_size"}, spec);
    must_be(r, "use_bias", false);
    spec.layer_pattern.assign(static_cast<std::size_t>(spec.layers), 'M');
    spec.heads = spec.kv_heads = 1;  // there is no attention
    spec.seq_len = 2048;
}

constexpr HfFamily hybrids[] = {
    {"granitemoehybrid", granitemoehybrid},
    {"mamba2", mamba2},
    {"nemotron_h", nemotron_h},
};

}  // namespace

std::span<const HfFamily> hybrid_families() { return hybrids; }

}  // namespace sextant
