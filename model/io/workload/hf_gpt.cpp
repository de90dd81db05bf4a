// Decoders in the manner of GPT: layer norms and an MLP without a gate.
#include "model/io/workload/hf_parts.hpp"

#include <string>
#include <vector>

namespace sextant {
namespace {

struct GptKeys {
    std::string_view layers, hidden, heads, ffn;
};

void read_gpt_sizes(ObjectReader& r, const GptKeys& keys, TransformerSpec& spec) {
    r.required(keys.layers, spec.layers, layer_count);
    r.required(keys.hidden, spec.hidden, width_bound);
    r.required(keys.heads, spec.heads, width_bound);
    spec.kv_heads = spec.heads;
    spec.ffn_hidden = 4 * spec.hidden;
    r.optional(keys.ffn, spec.ffn_hidden, width_bound);
}

void gpt2(ObjectReader& r, TransformerSpec& spec) {
    read_gpt_sizes(r, {"n_layer", "n_embd", "n_head", "n_inner"}, spec);
    read_vocabulary(r, "n_positions", true, spec);
    read_activation(r, "activation_function", "gelu_new", false, spec.mlp);
    must_be(r, "add_cross_attention", false);
}

void gpt_bigcode(ObjectReader& r, TransformerSpec& spec) {
    gpt2(r, spec);
    bool one_key = true;
    r.optional("multi_query", one_key);
    if (one_key) spec.kv_heads = 1;
}

// Attention and MLP side by side, off one norm or two; positions by rotation.
void set_parallel(TransformerSpec& spec, bool shared_norm) {
    spec.position = PositionKind::rotary;
    spec.parallel_residual = true;
    spec.shared_norm = shared_norm;
    spec.dropout = false;
}

void gptj(ObjectReader& r, TransformerSpec& spec) {
    gpt2(r, spec);
    read_tied(r, false, spec);
    set_parallel(spec, true);
    spec.bias = false;
    spec.norm_bias = true;
}

void gpt_neox(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    read_vocabulary(r, "max_position_embeddings", false, spec);
    read_activation(r, "hidden_act", "gelu", false, spec.mlp);
    must_be(r, "attention_bias", true);
    set_parallel(spec, false);
    r.optional("use_parallel_residual", spec.parallel_residual);
}

void phi(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    r.optional("num_key_value_heads", spec.kv_heads, width_bound);
    read_vocabulary(r, "max_position_embeddings", false, spec);
    read_activation(r, "hidden_act", "gelu_new", false, spec.mlp);
    must_be(r, "qk_layernorm", false);
    set_parallel(spec, true);
}

void starcoder2(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    r.optional("num_key_value_heads", spec.kv_heads, width_bound);
    read_vocabulary(r, "max_position_embeddings", true, spec);
    read_activation(r, "hidden_act", "gelu_pytorch_tanh", false, spec.mlp);
    r.optional("sliding_window", spec.sliding_window, length_bound);
    r.optional("use_bias", spec.bias);
    spec.norm_bias = true;
    spec.position = PositionKind::rotary;
    read_dropout(r, {"residual_dropout"}, 0, spec);
}

void nemotron(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    r.optional("num_key_value_heads", spec.kv_heads, width_bound);
    r.optional("head_dim", spec.head_dim, width_bound);
    read_vocabulary(r, "max_position_embeddings", false, spec);
    read_activation(r, "hidden_act", "relu2", false, spec.mlp);
    must_be(r, "attention_bias", false);
    must_be(r, "mlp_bias", false);
    spec.position = PositionKind::rotary;
    spec.bias = spec.dropout = false;
    spec.norm_bias = true;
}

void opt(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec, "ffn_dim");
    read_vocabulary(r, "max_position_embeddings", true, spec);
    spec.max_positions = spec.seq_len + 2;  // the table starts at two
    read_activation(r, "activation_function", "relu", false, spec.mlp);
    must_be(r, "do_layer_norm_before", true);
    must_be(r, "enable_bias", true);
    must_be(r, "_remove_final_layer_norm", false);
    std::int64_t embedding = spec.hidden;
    if (r.optional("word_embed_proj_dim", embedding, width_bound) && embedding != spec.hidden)
        refuse(r, "word_embed_proj_dim", "embeddings narrower than the layers are not supported");
}

// Windows in every second layer, beginning with the second; of attention only what brings its result back has a bias.
void gpt_neo(ObjectReader& r, TransformerSpec& spec) {
    read_gpt_sizes(r, {"num_layers", "hidden_size", "num_heads", "intermediate_size"}, spec);
    read_vocabulary(r, "max_position_embeddings", true, spec);
    read_activation(r, "activation_function", "gelu_new", false, spec.mlp);
    spec.sliding_window = 256;
    r.optional("window_size", spec.sliding_window, length_bound);
    spec.full_attention_every = 2;
    spec.full_attention_offset = 0;
    std::vector<std::string> kinds;
    if (r.optional("attention_layers", kinds))
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (kinds[i] != (i % 2 == 0 ? "global" : "local"))
                return refuse(r, "attention_layers", "other layers than every second with a window are not supported");
    spec.qkv_bias = false;
    read_dropout(r, {"resid_dropout"}, 0, spec);
}

// The number of a key that had another name in early configs.
void read_renamed(ObjectReader& r, std::string_view key, std::string_view former, std::int64_t& field, Bounds bounds) {
    r.required(r.has(key) || !r.has(former) ? key : former, field, bounds);
}

void bloom(ObjectReader& r, TransformerSpec& spec) {
    read_renamed(r, "num_hidden_layers", "n_layer", spec.layers, layer_count);
    read_renamed(r, "hidden_size", "n_embed", spec.hidden, width_bound);
    read_renamed(r, "num_attention_heads", "n_head", spec.heads, width_bound);
    spec.kv_heads = spec.heads;
    spec.ffn_hidden = 4 * spec.hidden;
    r.required("vocab_size", spec.vocab, width_bound);
    spec.seq_len = 2048;  // positions are unlimited; this is what BLOOM was trained with, and what early configs state
    r.optional("seq_length", spec.seq_len, length_bound);
    spec.position = PositionKind::alibi;
    spec.embedding_norm = true;
    spec.dropout = false;
}

// Falcon 40B and 180B have the new architecture, with a norm each for attention and MLP; 7B the old one, with one key head and one norm.
void falcon(ObjectReader& r, TransformerSpec& spec) {
    read_renamed(r, "num_hidden_layers", "n_layer", spec.layers, layer_count);
    r.required("hidden_size", spec.hidden, width_bound);
    read_renamed(r, "num_attention_heads", "n_head", spec.heads, width_bound);
    spec.ffn_hidden = 4 * spec.hidden;
    r.optional("ffn_hidden_size", spec.ffn_hidden, width_bound);
    r.required("vocab_size", spec.vocab, width_bound);
    spec.seq_len = 2048;  // what they were trained with, where configs state none
    r.optional("max_position_embeddings", spec.seq_len, length_bound);
    r.optional("tie_word_embeddings", spec.tied_embeddings);
    read_activation(r, "activation", "gelu", false, spec.mlp);
    bool renewed = false, one_key = true, parallel = true, alibi = false;
    r.optional("new_decoder_architecture", renewed);
    r.optional("multi_query", one_key);
    r.optional("parallel_attn", parallel);
    r.optional("alibi", alibi);
    spec.kv_heads = !renewed && one_key ? 1 : spec.heads;
    if (renewed) r.optional(r.has("num_kv_heads") ? "num_kv_heads" : "n_head_kv", spec.kv_heads, width_bound);
    std::int64_t norms = renewed ? 2 : 1;
    r.optional("num_ln_in_parallel_attn", norms, Bounds{1, 2});
    if (renewed || parallel) set_parallel(spec, norms == 1);
    spec.position = alibi ? PositionKind::alibi : PositionKind::rotary;
    spec.bias = spec.dropout = false;
    r.optional("bias", spec.bias);
    spec.norm_bias = true;
}

void mpt(ObjectReader& r, TransformerSpec& spec) {
    r.required("n_layers", spec.layers, layer_count);
    r.required("d_model", spec.hidden, width_bound);
    r.required("n_heads", spec.heads, width_bound);
    spec.kv_heads = spec.heads;
    std::int64_t expansion = 4;
    r.optional("expansion_ratio", expansion, Bounds{1, 64});
    spec.ffn_hidden = expansion * spec.hidden;
    read_vocabulary(r, "max_seq_len", true, spec);
    must_be(r, "no_bias", true);
    spec.bias = spec.dropout = false;
    const JsonNode attention = r.need("attn_config", "MPT states its positions there");
    if (!attention.value) return;
    ObjectReader inner(attention);
    inner.ignore_others();
    bool alibi = false;
    inner.optional("alibi", alibi);
    spec.position = alibi ? PositionKind::alibi : PositionKind::learned;
    std::string kind = "multihead_attention";
    inner.optional("attn_type", kind);
    if (kind != "multihead_attention") refuse(inner, "attn_type", "\"" + kind + "\" is not supported here");
}

constexpr HfFamily gpt_relatives[] = {
    {"bloom", bloom},
    {"falcon", falcon},
    {"gpt2", gpt2},
    {"gpt_bigcode", gpt_bigcode},
    {"gpt_neo", gpt_neo},
    {"gpt_neox", gpt_neox},
    {"gptj", gptj, "; left out: biases of the MLP and of the output matrix"},
    {"mpt", mpt},
    {"nemotron", nemotron},
    {"opt", opt},
    {"phi", phi, "; left out: biases of the output matrix"},
    {"starcoder2", starcoder2},
};

}  // namespace

std::span<const HfFamily> gpt_families() { return gpt_relatives; }

}  // namespace sextant
