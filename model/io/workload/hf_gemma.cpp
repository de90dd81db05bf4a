// Relatives of Llama that have norms, windows or blocks arranged in ways of their own: Gemma, OLMo, EXAONE, Cohere, StableLM.
#include "model/io/workload/hf_parts.hpp"

namespace sextant {
namespace {

void gemma(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    read_tied(r, true, spec);
    if (spec.head_dim == 0) spec.head_dim = 256;
    spec.mlp = MlpKind::geglu;  // hidden_act is "gelu" or its tanh form in every release
    must_be(r, "attention_bias", false);
}

void gemma2(ObjectReader& r, TransformerSpec& spec) {
    gemma(r, spec);
    spec.norm_placement = NormPlacement::both;
    read_windows(r, 2, spec);
    r.optional("final_logit_softcapping", spec.logit_softcap, softcap_bound);
}

// Configs state what differs from these, which are those of transformers.
void gemma3_text(ObjectReader& r, TransformerSpec& spec) {
    spec.layers = 26;
    spec.hidden = 2304;
    spec.ffn_hidden = 9216;
    spec.heads = 8;
    spec.kv_heads = 4;
    spec.head_dim = 256;
    spec.vocab = 262208;
    spec.seq_len = 131072;
    r.optional("num_hidden_layers", spec.layers, layer_count);
    r.optional("hidden_size", spec.hidden, width_bound);
    r.optional("intermediate_size", spec.ffn_hidden, width_bound);
    r.optional("num_attention_heads", spec.heads, width_bound);
    r.optional("num_key_value_heads", spec.kv_heads, width_bound);
    r.optional("head_dim", spec.head_dim, width_bound);
    r.optional("vocab_size", spec.vocab, width_bound);
    r.optional("max_position_embeddings", spec.seq_len, length_bound);
    read_tied(r, true, spec);
    must_be(r, "attention_bias", false);
    apply_llama_defaults(spec);
    spec.mlp = MlpKind::geglu;
    spec.norm_placement = NormPlacement::both;
    spec.qk_norm = true;
    read_windows(r, 6, spec);
    r.optional("final_logit_softcapping", spec.logit_softcap, softcap_bound);
}

void gemma3(ObjectReader& r, TransformerSpec& spec) { read_text_part(r, spec, gemma3_text); }

// The norms of the first OLMo have no gains.
void olmo(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "attention_bias", false);
    spec.norm = NormKind::layer;
}

void olmoe(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "attention_bias", false);
    spec.qk_norm = spec.qk_norm_whole = true;
    read_few_experts(r, "num_experts", spec);
}

void olmo2(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "attention_bias", false);
    spec.qk_norm = spec.qk_norm_whole = true;
    spec.norm_placement = NormPlacement::output;
}

void exaone4(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    must_be(r, "attention_bias", false);
    spec.qk_norm = true;
    spec.norm_placement = NormPlacement::output;
    read_windows(r, 4, spec);
}

void olmo3(ObjectReader& r, TransformerSpec& spec) {
    olmo2(r, spec);
    read_windows(r, 4, spec);
}

void cohere(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    read_tied(r, true, spec);
    must_be(r, "attention_bias", false);
    must_be(r, "use_qk_norm", false);
    spec.norm = NormKind::layer;
    spec.parallel_residual = spec.shared_norm = true;
}

void cohere2(ObjectReader& r, TransformerSpec& spec) {
    cohere(r, spec);
    read_windows(r, 4, spec);
}

void stablelm(ObjectReader& r, TransformerSpec& spec) {
    read_llama_like(r, spec);
    spec.norm = NormKind::layer;
    spec.norm_bias = true;
    r.optional("use_qkv_bias", spec.qkv_bias);
    must_be(r, "qk_layernorm", false);
    r.optional("use_parallel_residual", spec.parallel_residual);
    spec.shared_norm = spec.parallel_residual;
}

constexpr HfFamily rearranged[] = {
    {"cohere", cohere},
    {"cohere2", cohere2},
    {"exaone4", exaone4},
    {"gemma", gemma},
    {"gemma2", gemma2, "; left out: the cap of attention's scores"},
    {"gemma3", gemma3, no_images},
    {"gemma3_text", gemma3_text},
    {"olmo", olmo, "; counted: gains of norms, which have none"},
    {"olmo2", olmo2},
    {"olmo3", olmo3},
    {"olmoe", olmoe},
    {"stablelm", stablelm},
};

}  // namespace

std::span<const HfFamily> gemma_families() { return rearranged; }

}  // namespace sextant
