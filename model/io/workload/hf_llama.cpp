// Llama and its relatives: decoders with RMS norms in front of attention and a gated MLP.
#include "model/io/workload/hf_parts.hpp"

namespace sextant {
namespace {

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

// Ministral 3 differs in how it scales queries.
void mistral3_text(ObjectReader& r, TransformerSpec& spec) {
    std::string type = "mistral";
    r.optional("model_type", type);
    if (type != "mistral" && type != "ministral3")
        return refuse(r, "model_type", "text is read by a \"" + type + "\", which is not supported here");
    mistral(r, spec);
}

void mistral3(ObjectReader& r, TransformerSpec& spec) { read_text_part(r, spec, mistral3_text); }

void mixtral(ObjectReader& r, TransformerSpec& spec) {
    mistral(r, spec);
    read_few_experts(r, "num_local_experts", spec);
}

void gpt_oss(ObjectReader& r, TransformerSpec& spec) {
    mixtral(r, spec);
    spec.mlp = MlpKind::clamped_swiglu;
    spec.sliding_window_every = 2;
    spec.bias = true;
}

void phi3(ObjectReader& r, TransformerSpec& spec) {
    mistral(r, spec);
    must_be(r, "attention_bias", false);
}

void qwen2(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "use_sliding_window", false);
    spec.qkv_bias = true;
}

void qwen3(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "use_sliding_window", false);
    if (spec.head_dim == 0) spec.head_dim = 128;
    spec.qk_norm = true;
    must_be(r, "attention_bias", false);
}

// Older configs of models that see have the text's sizes beside the rest.
void qwen2_vl(ObjectReader& r, TransformerSpec& spec) { r.has("text_config") ? read_text_part(r, spec, qwen2) : qwen2(r, spec); }

void qwen3_vl(ObjectReader& r, TransformerSpec& spec) { read_text_part(r, spec, qwen3); }

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

void read_deepseek_experts(ObjectReader& r, TransformerSpec& spec) {
    MixtureOfExperts& moe = read_experts(r, "n_routed_experts", spec);
    std::int64_t shared = 0;
    r.optional("n_shared_experts", shared, Bounds{0, 1024});
    moe.shared_ffn_hidden = shared * moe.ffn_hidden;
    r.optional("first_k_dense_replace", moe.dense_layers, Bounds{0, layer_count.high});
    r.optional("moe_layer_freq", moe.every, layer_count);
    r.optional("n_group", moe.expert_groups, expert_bound);
    r.optional("topk_group", moe.groups_per_token, expert_bound);
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
    read_deepseek_experts(r, spec);
}

void read_sigmoid_router(ObjectReader& r, TransformerSpec& spec) {
    spec.moe->sigmoid_router = true;
    r.optional("num_nextn_predict_layers", spec.mtp_layers, Bounds{0, layer_count.high});
}

void deepseek_v3(ObjectReader& r, TransformerSpec& spec) {
    deepseek(r, spec);
    read_sigmoid_router(r, spec);
}

// ---- others

// An expert for each token beside a shared one of the same width, in one layer of `interleave_moe_layer_step`.
void llama4_text(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "attention_bias", false);
    MixtureOfExperts& moe = read_few_experts(r, "num_local_experts", spec);
    moe.shared_ffn_hidden = moe.ffn_hidden;
    r.required("intermediate_size_mlp", spec.ffn_hidden, width_bound);
    r.optional("interleave_moe_layer_step", moe.every, layer_count);
    if (const JsonNode listed = r.get("moe_layers"); listed.is_array() && std::ssize(listed.elements()) * moe.every != spec.layers)
        refuse(r, "moe_layers", "experts in other layers than every n-th are not supported");
    spec.qk_norm = true;
    r.optional("use_qk_norm", spec.qk_norm);
}

void llama4(ObjectReader& r, TransformerSpec& spec) { read_text_part(r, spec, llama4_text); }

void internlm2(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "bias", false);
}

void smollm3(ObjectReader& r, TransformerSpec& spec) {
    llama(r, spec);
    read_tied(r, true, spec);
    must_be(r, "use_sliding_window", false);
}

void granitemoe(ObjectReader& r, TransformerSpec& spec) {
    llama(r, spec);
    read_few_experts(r, "num_local_experts", spec);
}

void glm(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    if (spec.head_dim == 0) spec.head_dim = 128;
    bool biased = false;
    r.optional("attention_bias", biased);
    spec.qkv_bias = biased;
}

void glm4(ObjectReader& r, TransformerSpec& spec) {
    glm(r, spec);
    spec.norm_placement = NormPlacement::both;
}

void glm4_moe(ObjectReader& r, TransformerSpec& spec) {
    glm(r, spec);
    r.optional("use_qk_norm", spec.qk_norm);
    read_deepseek_experts(r, spec);
    read_sigmoid_router(r, spec);
}

constexpr std::string_view attention_sinks = "; left out: the sinks of attention";
constexpr std::string_view llama4_differs =
    "; left out: what reads images, attention in chunks of 8192 tokens; counted: gains of the norms of queries and keys, which have none";
constexpr HfFamily llama_relatives[] = {
    {"deepseek_v2", deepseek},
    {"deepseek_v3", deepseek_v3},
    {"glm", glm},
    {"glm4", glm4},
    {"glm4_moe", glm4_moe},
    {"gpt_oss", gpt_oss, attention_sinks},
    {"granite", llama},
    {"granitemoe", granitemoe},
    {"internlm2", internlm2},
    {"kimi_k2", deepseek_v3},
    {"llama", llama},
    {"llama4", llama4, llama4_differs},
    {"llama4_text", llama4_text, llama4_differs},
    {"mistral", mistral},
    {"mistral3", mistral3, no_images},
    {"mixtral", mixtral},
    {"phi3", phi3},
    {"qwen2", qwen2},
    {"qwen2_5_vl", qwen2_vl, no_images},
    {"qwen2_moe", qwen2_moe},
    {"qwen2_vl", qwen2_vl, no_images},
    {"qwen3", qwen3},
    {"qwen3_moe", qwen3_moe},
    {"qwen3_next", qwen3_next},
    {"qwen3_vl", qwen3_vl, no_images},
    {"smollm3", smollm3},
};

}  // namespace

std::span<const HfFamily> llama_families() { return llama_relatives; }

}  // namespace sextant
