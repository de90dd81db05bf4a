#include "model/io/scenario/hf_families.hpp"

#include "model/io/scenario/hf_parts.hpp"

#include <algorithm>

namespace sextant {
namespace {

// ---- decoders without biases: Llama and its relatives

void read_llama_like(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    read_vocabulary(r, "max_position_embeddings", false, spec);
    r.optional("num_key_value_heads", spec.kv_heads, width_bound);
    r.optional("head_dim", spec.head_dim, width_bound);
    read_activation(r, "hidden_act", "silu", true, spec.mlp);
    spec.norm = NormKind::rms;
    spec.position = PositionKind::rotary;
    spec.bias = spec.dropout = false;
}

void llama(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    bool attention = false, mlp = false;
    r.optional("attention_bias", attention);
    r.optional("mlp_bias", mlp);
    if (attention != mlp) refuse(r, attention ? "attention_bias" : "mlp_bias", "biases in one half of a layer are not supported");
    spec.bias = attention && mlp;
}

void mistral(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    r.optional("sliding_window", spec.sliding_window, length_bound);
}

void mixtral(ObjectReader& r, TransformerSpec& spec) {
    mistral(r, spec);
    MixtureOfExperts& moe = spec.moe.emplace();
    r.required("num_local_experts", moe.experts, expert_bound);
    r.required("num_experts_per_tok", moe.topk, expert_bound);
    moe.ffn_hidden = spec.ffn_hidden;
}

void gpt_oss(ObjectReader& r, TransformerSpec& spec) {
    mixtral(r, spec);
    spec.mlp = MlpKind::clamped_swiglu;
    spec.sliding_window_every = 2;
    spec.bias = true;
}

void gemma(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    spec.tied_embeddings = true;
    r.optional("tie_word_embeddings", spec.tied_embeddings);
    spec.mlp = MlpKind::geglu;  // hidden_act is "gelu" or its tanh form in every release
    must_be(r, "attention_bias", false);
}

void phi3(ObjectReader& r, TransformerSpec& spec) {
    mistral(r, spec);
    must_be(r, "attention_bias", false);
}

void read_qwen_window(ObjectReader& r, TransformerSpec& spec) {
    must_be(r, "use_sliding_window", false);
    spec.sliding_window = 0;
}

void qwen2(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    read_qwen_window(r, spec);
    spec.qkv_bias = true;
}

void qwen3(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    read_qwen_window(r, spec);
    if (spec.head_dim == 0) spec.head_dim = 128;
    spec.qk_norm = true;
    must_be(r, "attention_bias", false);
}

void read_qwen_experts(ObjectReader& r, TransformerSpec& spec) {
    MixtureOfExperts& moe = read_experts(r, "num_experts", spec);
    r.optional("decoder_sparse_step", moe.every, layer_count);
    if (const JsonNode dense = r.get("mlp_only_layers"); dense.is_array() && !dense.elements().empty())
        refuse(r, "mlp_only_layers", "single layers without experts are not supported");
}

void read_qwen_shared_expert(ObjectReader& r, TransformerSpec& spec) {
    read_qwen_experts(r, spec);
    r.required("shared_expert_intermediate_size", spec.moe->shared_ffn_hidden, width_bound);
    spec.moe->shared_gate = true;
}

void qwen2_moe(ObjectReader& r, TransformerSpec& spec) {
    qwen2(r, spec);
    read_qwen_shared_expert(r, spec);
}

void qwen3_moe(ObjectReader& r, TransformerSpec& spec) {
    qwen3(r, spec);
    read_qwen_experts(r, spec);
}

// Each of its layers is two of a hybrid: what mixes tokens, and experts.
void qwen3_next(ObjectReader& r, TransformerSpec& spec) {
    qwen3(r, spec);
    read_qwen_shared_expert(r, spec);
    spec.attention_gate = true;
    if (spec.moe->every != 1) refuse(r, "decoder_sparse_step", "layers without experts are not supported");
    spec.moe->every = 1;
    DeltaRule& d = spec.delta_rule.emplace();
    r.required("linear_num_key_heads", d.key_heads, width_bound);
    r.required("linear_num_value_heads", d.value_heads, width_bound);
    r.required("linear_key_head_dim", d.key_dim, width_bound);
    r.required("linear_value_head_dim", d.value_dim, width_bound);
    r.optional("linear_conv_kernel_dim", d.kernel, width_bound);
    std::int64_t interval = 4;
    r.optional("full_attention_interval", interval, layer_count);
    for (std::int64_t layer = 1; layer <= spec.layers; ++layer) spec.layer_pattern += layer % interval == 0 ? "*E" : "GE";
    spec.layers *= 2;
}

void deepseek(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "attention_bias", false);
    spec.kv_heads = spec.heads;
    spec.head_dim = 0;
    LatentAttention& mla = spec.mla.emplace();
    r.optional("q_lora_rank", mla.q_rank, width_bound);
    r.required("kv_lora_rank", mla.kv_rank, width_bound);
    r.required("qk_nope_head_dim", mla.qk_nope_dim, width_bound);
    r.required("qk_rope_head_dim", mla.qk_rope_dim, width_bound);
    r.required("v_head_dim", mla.value_dim, width_bound);
    MixtureOfExperts& moe = read_experts(r, "n_routed_experts", spec);
    std::int64_t shared = 0;
    r.optional("n_shared_experts", shared, Bounds{0, 1024});
    moe.shared_ffn_hidden = shared * moe.ffn_hidden;
    r.optional("first_k_dense_replace", moe.dense_layers, Bounds{0, layer_count.high});
    r.optional("moe_layer_freq", moe.every, layer_count);
    r.optional("n_group", moe.expert_groups, expert_bound);
    r.optional("topk_group", moe.groups_per_token, expert_bound);
}

void deepseek_v3(ObjectReader& r, TransformerSpec& spec) {
    deepseek(r, spec);
    spec.moe->sigmoid_router = true;
    r.optional("num_nextn_predict_layers", spec.mtp_layers, Bounds{0, layer_count.high});
}

// ---- decoders in the manner of GPT

void gpt2(ObjectReader& r, TransformerSpec& spec) {
    r.required("n_layer", spec.layers, layer_count);
    r.required("n_embd", spec.hidden, width_bound);
    r.required("n_head", spec.heads, width_bound);
    spec.kv_heads = spec.heads;
    spec.ffn_hidden = 4 * spec.hidden;
    r.optional("n_inner", spec.ffn_hidden, width_bound);
    read_vocabulary(r, "n_positions", true, spec);
    read_activation(r, "activation_function", "gelu_new", false, spec.mlp);
    must_be(r, "add_cross_attention", false);
}

void gpt_neox(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    read_vocabulary(r, "max_position_embeddings", false, spec);
    read_activation(r, "hidden_act", "gelu", false, spec.mlp);
    must_be(r, "attention_bias", true);
    spec.position = PositionKind::rotary;
    spec.dropout = false;
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

// ---- encoders, both, and images

// What the model is trained for stands in the name of its class.
HeadKind head_of(ObjectReader& r, bool& pooler) {
    std::string name;
    if (const std::vector<JsonNode> names = r.get("architectures").elements(); !names.empty()) read_value(names.front(), name);
    if (name.ends_with("ForQuestionAnswering")) {
        pooler = false;
        return HeadKind::question_answering;
    }
    if (name.ends_with("ForSequenceClassification")) return HeadKind::classifier;
    if (name.ends_with("ForMaskedLM")) pooler = false;
    return HeadKind::masked_lm_nsp;
}

// Labels are counted in the map from their numbers to their names.
std::int64_t label_count(ObjectReader& r, std::int64_t otherwise) {
    if (const JsonNode names = r.get("id2label"); names.is_object()) return static_cast<std::int64_t>(names.members().size());
    r.optional("num_labels", otherwise, width_bound);
    return otherwise;
}

void bert(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    read_vocabulary(r, "max_position_embeddings", true, spec);
    r.required("type_vocab_size", spec.type_vocab, width_bound);
    read_activation(r, "hidden_act", "gelu", false, spec.mlp);
    std::string positions = "absolute";
    r.optional("position_embedding_type", positions);
    if (positions != "absolute") refuse(r, "position_embedding_type", "\"" + positions + "\" positions are not supported here");
    spec.kind = TransformerKind::encoder;
    spec.bidirectional = true;
    spec.max_positions = spec.seq_len;
    spec.pooler = true;
    spec.head = head_of(r, spec.pooler);
    spec.classes = label_count(r, 2);
    must_be(r, "is_decoder", false);
}

void roberta(ObjectReader& r, TransformerSpec& spec) {
    bert(r, spec);
    spec.seq_len = std::max<std::int64_t>(1, spec.max_positions - 2);  // positions start behind the padding token's
    if (spec.head == HeadKind::masked_lm_nsp) spec.pooler = false;     // there is no next-sentence prediction
    if (spec.head == HeadKind::classifier) spec.pooler = true;
}

void t5(ObjectReader& r, TransformerSpec& spec) {
    r.required("num_layers", spec.layers, layer_count);
    spec.decoder_layers = spec.layers;
    r.optional("num_decoder_layers", spec.decoder_layers, layer_count);
    r.required("d_model", spec.hidden, width_bound);
    r.required("d_ff", spec.ffn_hidden, width_bound);
    r.required("num_heads", spec.heads, width_bound);
    r.required("d_kv", spec.head_dim, width_bound);
    r.required("vocab_size", spec.vocab, width_bound);
    spec.kv_heads = spec.heads;
    spec.seq_len = 512;
    r.optional("n_positions", spec.seq_len, length_bound);
    r.optional("tie_word_embeddings", spec.tied_embeddings);
    std::string projection = "relu";
    r.optional("feed_forward_proj", projection);
    if (projection == "relu")
        spec.mlp = MlpKind::relu;
    else if (projection == "gated-gelu")
        spec.mlp = MlpKind::geglu;
    else
        refuse(r, "feed_forward_proj", "\"" + projection + "\" is not supported here");
    std::int64_t buckets = 32;
    if (r.optional("relative_attention_num_buckets", buckets) && buckets != 32)
        refuse(r, "relative_attention_num_buckets", "only 32 buckets are supported");
    spec.kind = TransformerKind::encoder_decoder;
    spec.norm = NormKind::rms;
    spec.position = PositionKind::relative;
    spec.bias = false;
}

void vit(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    r.required("image_size", spec.image_px, pixel_bound);
    r.required("patch_size", spec.patch_px, pixel_bound);
    r.optional("num_channels", spec.channels, pixel_bound);
    read_activation(r, "hidden_act", "gelu", false, spec.mlp);
    must_be(r, "qkv_bias", true);
    spec.kind = TransformerKind::vision;
    spec.head = HeadKind::classifier;
    spec.classes = label_count(r, 1000);
    spec.vocab = 1;
    const std::int64_t side = spec.image_px / spec.patch_px;
    spec.seq_len = side * side + 1;
}

constexpr std::string_view attention_sinks = "; left out: the sinks of attention";
constexpr HfFamily families[] = {
    {"bert", bert},
    {"bloom", bloom},
    {"deepseek_v2", deepseek},
    {"deepseek_v3", deepseek_v3},
    {"gemma", gemma},
    {"gpt2", gpt2},
    {"gpt_neox", gpt_neox},
    {"gpt_oss", gpt_oss, attention_sinks},
    {"llama", llama},
    {"mamba2", mamba2},
    {"mistral", mistral},
    {"mixtral", mixtral},
    {"mpt", mpt},
    {"nemotron_h", nemotron_h},
    {"opt", opt},
    {"phi3", phi3},
    {"qwen2", qwen2},
    {"qwen2_moe", qwen2_moe},
    {"qwen3", qwen3},
    {"qwen3_moe", qwen3_moe},
    {"qwen3_next", qwen3_next},
    {"roberta", roberta},
    {"t5", t5},
    {"vit", vit},
};

}  // namespace

std::span<const HfFamily> hf_families() { return families; }

}  // namespace sextant
