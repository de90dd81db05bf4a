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

void read_qwen3(ObjectReader& r, std::string_view ffn_key, TransformerSpec& spec) {
    read_llama_like(r, spec, ffn_key);
    must_be(r, "use_sliding_window", false);
    if (spec.head_dim == 0) spec.head_dim = 128;
    spec.qk_norm = true;
    must_be(r, "attention_bias", false);
}

void qwen3(ObjectReader& r, TransformerSpec& spec) { read_qwen3(r, "intermediate_size", spec); }

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

void qwen3_vl_moe(ObjectReader& r, TransformerSpec& spec) { read_text_part(r, spec, qwen3_moe); }

// Each layer is two of a hybrid: what mixes tokens, a delta rule or attention with a gate, and an MLP or experts.
void read_delta_layers(ObjectReader& r, TransformerSpec& spec) {
    spec.attention_gate = true;
    DeltaRule& d = spec.delta_rule.emplace();
    r.required("linear_num_key_heads", d.key_heads, width_bound);
    r.required("linear_num_value_heads", d.value_heads, width_bound);
    r.required("linear_key_head_dim", d.key_dim, width_bound);
    r.required("linear_value_head_dim", d.value_dim, width_bound);
    r.optional("linear_conv_kernel_dim", d.kernel, width_bound);
    std::int64_t interval = 4;
    r.optional("full_attention_interval", interval, layer_count);
    for (std::int64_t layer = 1; layer <= spec.layers; ++layer)
        (spec.layer_pattern += layer % interval == 0 ? '*' : 'G') += spec.moe ? 'E' : '-';
    spec.layers *= 2;
}

void read_delta_layers_with_experts(ObjectReader& r, TransformerSpec& spec) {
    read_qwen_shared_expert(r, spec);
    if (spec.moe->every != 1) refuse(r, "decoder_sparse_step", "layers without experts are not supported");
    spec.moe->every = 1;
    read_delta_layers(r, spec);
}

void qwen3_next(ObjectReader& r, TransformerSpec& spec) {
    qwen3(r, spec);
    read_delta_layers_with_experts(r, spec);
}

void qwen3_5_text(ObjectReader& r, TransformerSpec& spec) {
    qwen3(r, spec);
    read_delta_layers(r, spec);
}

void qwen3_5_moe_text(ObjectReader& r, TransformerSpec& spec) {
    read_qwen3(r, "moe_intermediate_size", spec);
    read_delta_layers_with_experts(r, spec);
}

void qwen3_5(ObjectReader& r, TransformerSpec& spec) { read_text_part(r, spec, qwen3_5_text); }

void qwen3_5_moe(ObjectReader& r, TransformerSpec& spec) { read_text_part(r, spec, qwen3_5_moe_text); }

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

// The first layer alone has no experts where a config does not say it.
void glm4_moe_lite(ObjectReader& r, TransformerSpec& spec) {
    deepseek_v3(r, spec);
    if (!r.has("first_k_dense_replace")) spec.moe->dense_layers = 1;
}

void dots1(ObjectReader& r, TransformerSpec& spec) {
    qwen3(r, spec);
    read_deepseek_experts(r, spec);
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

void arcee(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec, "intermediate_size", false);
    for (const char* bias : {"attention_bias", "mlp_bias"}) must_be(r, bias, false);
}

void seed_oss(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    bool biased = true;
    r.optional("attention_bias", biased);
    spec.qkv_bias = biased;
    for (const char* bias : {"attention_out_bias", "mlp_bias"}) must_be(r, bias, false);
}

void hunyuan(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "attention_bias", false);
    spec.qk_norm = true;
    r.optional("use_qk_norm", spec.qk_norm);
}

void minimax_m2(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    read_few_experts(r, "num_local_experts", spec).sigmoid_router = true;
    spec.qk_norm = true;
    r.optional("use_qk_norm", spec.qk_norm);
    spec.qk_norm_whole = spec.qk_norm;
}

void ernie(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    read_tied(r, true, spec);
    must_be(r, "use_bias", false);
}

void ernie_moe(ObjectReader& r, TransformerSpec& spec) {
    ernie(r, spec);
    MixtureOfExperts& moe = spec.moe.emplace();
    r.required("moe_num_experts", moe.experts, expert_bound);
    r.required("moe_k", moe.topk, expert_bound);
    r.required("moe_intermediate_size", moe.ffn_hidden, width_bound);
    std::int64_t shared = 0, interval = 1, last = -1;
    r.optional("moe_num_shared_experts", shared, Bounds{0, 1024});
    moe.shared_ffn_hidden = shared * moe.ffn_hidden;
    moe.dense_layers = 1;
    r.optional("moe_layer_start_index", moe.dense_layers, Bounds{0, layer_count.high});
    if (r.optional("moe_layer_interval", interval, layer_count) && interval > 1)
        refuse(r, "moe_layer_interval", "layers without experts among those that have them are not supported");
    if (r.optional("moe_layer_end_index", last, Bounds{-1, layer_count.high}) && last != -1 && last != spec.layers - 1)
        refuse(r, "moe_layer_end_index", "layers without experts behind those that have them are not supported");
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
constexpr std::string_view no_prediction = "; left out: modules for multi-token prediction";
constexpr std::string_view no_images_no_prediction = "; left out: what reads images, modules for multi-token prediction";
constexpr HfFamily llama_relatives[] = {
    {"arcee", arcee},
    {"deepseek_v2", deepseek},
    {"deepseek_v3", deepseek_v3},
    {"dots1", dots1},
    {"ernie4_5", ernie},
    {"ernie4_5_moe", ernie_moe, "; left out: biases by which routers choose"},
    {"glm", glm},
    {"glm4", glm4},
    {"glm4_moe", glm4_moe},
    {"glm4_moe_lite", glm4_moe_lite},
    {"gpt_oss", gpt_oss, attention_sinks},
    {"granite", llama},
    {"granitemoe", granitemoe},
    {"hunyuan_v1_dense", hunyuan},
    {"internlm2", internlm2},
    {"kimi_k2", deepseek_v3},
    {"llama", llama},
    {"llama4", llama4, llama4_differs},
    {"llama4_text", llama4_text, llama4_differs},
    {"minimax_m2", minimax_m2, no_prediction},
    {"mistral", mistral},
    {"mistral3", mistral3, no_images},
    {"mixtral", mixtral},
    {"phi3", phi3},
    {"qwen2", qwen2},
    {"qwen2_5_vl", qwen2_vl, no_images},
    {"qwen2_moe", qwen2_moe},
    {"qwen2_vl", qwen2_vl, no_images},
    {"qwen3", qwen3},
    {"qwen3_5", qwen3_5, no_images_no_prediction},
    {"qwen3_5_moe", qwen3_5_moe, no_images_no_prediction},
    {"qwen3_5_moe_text", qwen3_5_moe_text, no_prediction},
    {"qwen3_5_text", qwen3_5_text, no_prediction},
    {"qwen3_moe", qwen3_moe},
    {"qwen3_next", qwen3_next},
    {"qwen3_vl", qwen3_vl, no_images},
    {"qwen3_vl_moe", qwen3_vl_moe, no_images},
    {"seed_oss", seed_oss},
    {"smollm3", smollm3},
};

}  // namespace

std::span<const HfFamily> llama_families() { return llama_relatives; }

}  // namespace sextant
