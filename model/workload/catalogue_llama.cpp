// The catalogue: Llama and its relatives, with mixtures of experts.
#include "model/workload/catalogue.hpp"

namespace sextant {
namespace {

void tied(TransformerSpec& spec) { spec.tied_embeddings = true; }
void mistral(TransformerSpec& spec) { spec.sliding_window = 4096; }
void heads_of_128(TransformerSpec& spec) { spec.head_dim = 128; }
void phi_3(TransformerSpec& spec) { spec.sliding_window = 2047; }
void nemotron(TransformerSpec& spec) {
    spec.mlp = MlpKind::squared_relu;
    spec.norm = NormKind::layer;
    spec.bias = false;
}
void qwen(TransformerSpec& spec) { spec.qkv_bias = true; }
void tied_qwen(TransformerSpec& spec) {
    spec.qkv_bias = true;
    spec.tied_embeddings = true;
}
void qwen3(TransformerSpec& spec) {
    spec.head_dim = 128;
    spec.qk_norm = true;
}
void tied_qwen3(TransformerSpec& spec) {
    qwen3(spec);
    spec.tied_embeddings = true;
}
void qwen3_30b_a3b(TransformerSpec& spec) {
    qwen3(spec);
    spec.moe = MixtureOfExperts{.experts = 128, .topk = 8, .ffn_hidden = 768};
}
void qwen3_235b_a22b(TransformerSpec& spec) {
    qwen3(spec);
    spec.moe = MixtureOfExperts{.experts = 128, .topk = 8, .ffn_hidden = 1536};
}
void mixtral(TransformerSpec& spec) { spec.moe = MixtureOfExperts{.experts = 8, .topk = 2, .ffn_hidden = spec.ffn_hidden}; }
void grok(TransformerSpec& spec) {
    mixtral(spec);
    spec.mlp = MlpKind::geglu;
    spec.tied_embeddings = true;
}
// Without the sinks of attention and the biases of routers.
void gpt_oss(TransformerSpec& spec) {
    spec.mlp = MlpKind::clamped_swiglu;
    spec.head_dim = 64;
    spec.bias = true;
    spec.sliding_window = 128;
    spec.sliding_window_every = 2;
}
void gpt_oss_20b(TransformerSpec& spec) {
    gpt_oss(spec);
    spec.moe = MixtureOfExperts{.experts = 32, .topk = 4, .ffn_hidden = spec.ffn_hidden};
}
void gpt_oss_120b(TransformerSpec& spec) {
    gpt_oss(spec);
    spec.moe = MixtureOfExperts{.experts = 128, .topk = 4, .ffn_hidden = spec.ffn_hidden};
}
void deepseek_v2_lite(TransformerSpec& spec) {
    spec.mla = LatentAttention{.q_rank = 0};
    spec.moe = MixtureOfExperts{.experts = 64, .topk = 6, .ffn_hidden = 1408, .shared_ffn_hidden = 2816, .dense_layers = 1};
}
void deepseek_v2(TransformerSpec& spec) {
    spec.mla = LatentAttention{.q_rank = 1536};
    spec.moe = MixtureOfExperts{.experts = 160,
                                .topk = 6,
                                .ffn_hidden = 1536,
                                .shared_ffn_hidden = 3072,
                                .dense_layers = 1,
                                .expert_groups = 8,
                                .groups_per_token = 3};
}
void deepseek_v3(TransformerSpec& spec) {
    spec.mla = LatentAttention{.q_rank = 1536};
    spec.moe = MixtureOfExperts{.experts = 256,
                                .topk = 8,
                                .ffn_hidden = 2048,
                                .shared_ffn_hidden = 2048,
                                .dense_layers = 3,
                                .expert_groups = 8,
                                .groups_per_token = 4,
                                .sigmoid_router = true};
}
void kimi_k2(TransformerSpec& spec) {
    spec.mla = LatentAttention{.q_rank = 1536};
    spec.moe = MixtureOfExperts{
        .experts = 384, .topk = 8, .ffn_hidden = 2048, .shared_ffn_hidden = 2048, .dense_layers = 1, .sigmoid_router = true};
}
// Without gains of queries and keys, which its norms have not, and chunks of attention, which are as long as these sequences.
void llama_4_scout(TransformerSpec& spec) {
    heads_of_128(spec);
    spec.moe = MixtureOfExperts{.experts = 16, .topk = 1, .ffn_hidden = 8192, .shared_ffn_hidden = 8192};
}
void llama_4_maverick(TransformerSpec& spec) {
    heads_of_128(spec);
    spec.moe = MixtureOfExperts{.experts = 128, .topk = 1, .ffn_hidden = 8192, .shared_ffn_hidden = 8192, .every = 2};
}
void gemma_1(TransformerSpec& spec) {
    spec.mlp = MlpKind::geglu;
    spec.tied_embeddings = true;
    spec.head_dim = 256;
}
// Attention in windows in every second layer, beginning with the first (Gemma 2), or in all but every sixth (Gemma 3).
void gemma_2(TransformerSpec& spec) {
    gemma_1(spec);
    spec.norm_placement = NormPlacement::both;
    spec.sliding_window = 4096;
    spec.full_attention_every = 2;
    spec.logit_softcap = 30;
}
void gemma_2_27b(TransformerSpec& spec) {
    gemma_2(spec);
    spec.head_dim = 128;
}
void gemma_3(TransformerSpec& spec) {
    gemma_2(spec);
    spec.sliding_window = 1024;
    spec.full_attention_every = 6;
    spec.logit_softcap = 0;
    spec.qk_norm = true;
}
void gemma_3_1b(TransformerSpec& spec) {
    gemma_3(spec);
    spec.sliding_window = 512;
}
void gemma_3_27b(TransformerSpec& spec) {
    gemma_3(spec);
    spec.head_dim = 128;
}
void olmo_2(TransformerSpec& spec) {
    spec.norm_placement = NormPlacement::output;
    spec.qk_norm = spec.qk_norm_whole = true;
}

constexpr std::string_view llama1 = "arXiv 2302.13971, table 2";
constexpr std::string_view llama2 = "arXiv 2307.09288; config.json of meta-llama/Llama-2";
constexpr std::string_view llama3 = "arXiv 2407.21783, table 3";
constexpr std::string_view llama32 = "config.json of meta-llama/Llama-3.2";
constexpr std::string_view llama4 = "config.json of meta-llama/Llama-4";
constexpr std::string_view code_llama = "arXiv 2308.12950, section 2; config.json of codellama/CodeLlama";
constexpr std::string_view yi = "arXiv 2403.04652, section 2.2; config.json of 01-ai/Yi";
constexpr std::string_view phi3_paper = "arXiv 2404.14219, section 2; config.json of microsoft/Phi-3";
constexpr std::string_view gpt_oss_paper = "arXiv 2508.10925, section 2; config.json of openai/gpt-oss";
constexpr std::string_view qwen25 = "arXiv 2412.15115, table 1; config.json of Qwen/Qwen2.5";
constexpr std::string_view qwen3_paper = "arXiv 2505.09388, tables 1 and 2; config.json of Qwen/Qwen3";
constexpr std::string_view gemma_paper = "arXiv 2403.08295, table 1; config.json of google/gemma";
constexpr std::string_view gemma2_paper = "arXiv 2408.00118, table 1; config.json of google/gemma-2";
constexpr std::string_view gemma3_paper = "arXiv 2503.19786, section 2; config.json of google/gemma-3";
constexpr std::string_view olmo2_paper = "arXiv 2501.00656, section 2.1; config.json of allenai/OLMo-2-1124";

using enum NetworkStyle;
constexpr CatalogueEntry llama_networks[] = {
    {"llama-7b", "LLaMA 7B", llama1, llama, 32, 4096, 11008, 32, 32, 32000, 2048},
    {"llama-13b", "LLaMA 13B", llama1, llama, 40, 5120, 13824, 40, 40, 32000, 2048},
    {"llama-33b", "LLaMA 33B", llama1, llama, 60, 6656, 17920, 52, 52, 32000, 2048},
    {"llama-65b", "LLaMA 65B", llama1, llama, 80, 8192, 22016, 64, 64, 32000, 2048},
    {"llama-2-7b", "Llama 2 7B", llama2, llama, 32, 4096, 11008, 32, 32, 32000, 4096},
    {"llama-2-13b", "Llama 2 13B", llama2, llama, 40, 5120, 13824, 40, 40, 32000, 4096},
    {"llama-2-70b", "Llama 2 70B", llama2, llama, 80, 8192, 28672, 64, 8, 32000, 4096},
    {"llama-3-8b", "Llama 3 8B", llama3, llama, 32, 4096, 14336, 32, 8, 128256, 8192},
    {"llama-3-70b", "Llama 3 70B", llama3, llama, 80, 8192, 28672, 64, 8, 128256, 8192},
    {"llama-3.1-405b", "Llama 3.1 405B", llama3, llama, 126, 16384, 53248, 128, 8, 128256, 8192},
    {"llama-3.2-1b", "Llama 3.2 1B", llama32, llama, 16, 2048, 8192, 32, 8, 128256, 8192, tied},
    {"llama-3.2-3b", "Llama 3.2 3B", llama32, llama, 28, 3072, 8192, 24, 8, 128256, 8192, tied},
    {"llama-4-scout", "Llama 4 Scout 109B (text)", llama4, llama, 48, 5120, 16384, 40, 8, 202048, 8192, llama_4_scout},
    {"llama-4-maverick", "Llama 4 Maverick 400B (text)", llama4, llama, 48, 5120, 16384, 40, 8, 202048, 8192, llama_4_maverick},
    {"codellama-7b", "Code Llama 7B", code_llama, llama, 32, 4096, 11008, 32, 32, 32016, 4096},
    {"codellama-13b", "Code Llama 13B", code_llama, llama, 40, 5120, 13824, 40, 40, 32016, 4096},
    {"codellama-34b", "Code Llama 34B", code_llama, llama, 48, 8192, 22016, 64, 8, 32000, 4096},
    {"codellama-70b", "Code Llama 70B", code_llama, llama, 80, 8192, 28672, 64, 8, 32016, 4096},
    {"tinyllama-1.1b", "TinyLlama 1.1B", "arXiv 2401.02385, section 2.2", llama, 22, 2048, 5632, 32, 4, 32000, 2048},
    {"yi-6b", "Yi 6B", yi, llama, 32, 4096, 11008, 32, 4, 64000, 4096},
    {"yi-9b", "Yi 9B", yi, llama, 48, 4096, 11008, 32, 4, 64000, 4096},
    {"yi-34b", "Yi 34B", yi, llama, 60, 7168, 20480, 56, 8, 64000, 4096},
    {"phi-3-mini", "Phi-3 mini 3.8B", phi3_paper, llama, 32, 3072, 8192, 32, 32, 32064, 4096, phi_3},
    {"phi-3-medium", "Phi-3 medium 14B", phi3_paper, llama, 40, 5120, 17920, 40, 10, 32064, 4096, phi_3},
    {"phi-4", "Phi-4 14B", "arXiv 2412.08905, section 3; config.json of microsoft/phi-4", llama, 40, 5120, 17920, 40, 10, 100352, 4096},
    {"mistral-7b", "Mistral 7B", "arXiv 2310.06825, table 1", llama, 32, 4096, 14336, 32, 8, 32000, 8192, mistral},
    {"mistral-nemo-12b", "Mistral NeMo 12B", "config.json of mistralai/Mistral-Nemo-Base-2407", llama, 40, 5120, 14336, 32, 8, 131072, 8192,
     heads_of_128},
    {"mistral-small-22b", "Mistral Small 22B", "config.json of mistralai/Mistral-Small-Instruct-2409", llama, 56, 6144, 16384, 48, 8, 32768,
     8192},
    {"mistral-small-24b", "Mistral Small 3 24B", "config.json of mistralai/Mistral-Small-24B-Base-2501", llama, 40, 5120, 32768, 32, 8,
     131072, 8192, heads_of_128},
    {"mixtral-8x7b", "Mixtral 8x7B", "arXiv 2401.04088, table 1", llama, 32, 4096, 14336, 32, 8, 32000, 32768, mixtral},
    {"mixtral-8x22b", "Mixtral 8x22B", "config.json of mistralai/Mixtral-8x22B-v0.1", llama, 56, 6144, 16384, 48, 8, 32000, 65536, mixtral},
    {"grok-1", "Grok-1 314B", "xai-org/grok-1 run.py", llama, 64, 6144, 32768, 48, 8, 131072, 8192, grok},
    {"gpt-oss-20b", "gpt-oss 20B", gpt_oss_paper, llama, 24, 2880, 2880, 64, 8, 201088, 4096, gpt_oss_20b},
    {"gpt-oss-120b", "gpt-oss 120B", gpt_oss_paper, llama, 36, 2880, 2880, 64, 8, 201088, 4096, gpt_oss_120b},
    {"nemotron-4-15b", "Nemotron-4 15B", "arXiv 2402.16819, table 1", llama, 32, 6144, 24576, 48, 8, 256000, 4096, nemotron},
    {"nemotron-4-340b", "Nemotron-4 340B", "arXiv 2406.11704, table 1", llama, 96, 18432, 73728, 96, 8, 256000, 4096, nemotron},
    {"qwen2.5-0.5b", "Qwen2.5 0.5B", qwen25, llama, 24, 896, 4864, 14, 2, 151936, 4096, tied_qwen},
    {"qwen2.5-1.5b", "Qwen2.5 1.5B", qwen25, llama, 28, 1536, 8960, 12, 2, 151936, 4096, tied_qwen},
    {"qwen2.5-3b", "Qwen2.5 3B", qwen25, llama, 36, 2048, 11008, 16, 2, 151936, 4096, tied_qwen},
    {"qwen2.5-7b", "Qwen2.5 7B", qwen25, llama, 28, 3584, 18944, 28, 4, 152064, 4096, qwen},
    {"qwen2.5-14b", "Qwen2.5 14B", qwen25, llama, 48, 5120, 13824, 40, 8, 152064, 4096, qwen},
    {"qwen2.5-32b", "Qwen2.5 32B", qwen25, llama, 64, 5120, 27648, 40, 8, 152064, 4096, qwen},
    {"qwen2.5-72b", "Qwen2.5 72B", qwen25, llama, 80, 8192, 29568, 64, 8, 152064, 4096, qwen},
    {"qwen3-0.6b", "Qwen3 0.6B", qwen3_paper, llama, 28, 1024, 3072, 16, 8, 151936, 4096, tied_qwen3},
    {"qwen3-1.7b", "Qwen3 1.7B", qwen3_paper, llama, 28, 2048, 6144, 16, 8, 151936, 4096, tied_qwen3},
    {"qwen3-4b", "Qwen3 4B", qwen3_paper, llama, 36, 2560, 9728, 32, 8, 151936, 4096, tied_qwen3},
    {"qwen3-8b", "Qwen3 8B", qwen3_paper, llama, 36, 4096, 12288, 32, 8, 151936, 4096, qwen3},
    {"qwen3-14b", "Qwen3 14B", qwen3_paper, llama, 40, 5120, 17408, 40, 8, 151936, 4096, qwen3},
    {"qwen3-32b", "Qwen3 32B", qwen3_paper, llama, 64, 5120, 25600, 64, 8, 151936, 4096, qwen3},
    {"qwen3-30b-a3b", "Qwen3 30B-A3B", qwen3_paper, llama, 48, 2048, 6144, 32, 4, 151936, 4096, qwen3_30b_a3b},
    {"qwen3-235b-a22b", "Qwen3 235B-A22B", qwen3_paper, llama, 94, 4096, 12288, 64, 4, 151936, 4096, qwen3_235b_a22b},
    {"gemma-2b", "Gemma 2B", gemma_paper, llama, 18, 2048, 16384, 8, 1, 256000, 8192, gemma_1},
    {"gemma-7b", "Gemma 7B", gemma_paper, llama, 28, 3072, 24576, 16, 16, 256000, 8192, gemma_1},
    {"gemma-2-2b", "Gemma 2 2B", gemma2_paper, llama, 26, 2304, 9216, 8, 4, 256000, 8192, gemma_2},
    {"gemma-2-9b", "Gemma 2 9B", gemma2_paper, llama, 42, 3584, 14336, 16, 8, 256000, 8192, gemma_2},
    {"gemma-2-27b", "Gemma 2 27B", gemma2_paper, llama, 46, 4608, 36864, 32, 16, 256000, 8192, gemma_2_27b},
    {"gemma-3-1b", "Gemma 3 1B", gemma3_paper, llama, 26, 1152, 6912, 4, 1, 262144, 32768, gemma_3_1b},
    {"gemma-3-4b", "Gemma 3 4B (text)", gemma3_paper, llama, 34, 2560, 10240, 8, 4, 262208, 32768, gemma_3},
    {"gemma-3-12b", "Gemma 3 12B (text)", gemma3_paper, llama, 48, 3840, 15360, 16, 8, 262208, 32768, gemma_3},
    {"gemma-3-27b", "Gemma 3 27B (text)", gemma3_paper, llama, 62, 5376, 21504, 32, 16, 262208, 32768, gemma_3_27b},
    {"olmo-2-7b", "OLMo 2 7B", olmo2_paper, llama, 32, 4096, 11008, 32, 32, 100352, 4096, olmo_2},
    {"olmo-2-13b", "OLMo 2 13B", olmo2_paper, llama, 40, 5120, 13824, 40, 40, 100352, 4096, olmo_2},
    {"glm-4-9b", "GLM-4 9B", "config.json of THUDM/glm-4-9b-hf", llama, 40, 4096, 13696, 32, 2, 151552, 8192, qwen},
    {"deepseek-v2-lite", "DeepSeek-V2-Lite 16B", "arXiv 2405.04434, appendix B", llama, 27, 2048, 10944, 16, 16, 102400, 4096,
     deepseek_v2_lite},
    {"deepseek-v2", "DeepSeek-V2 236B", "arXiv 2405.04434, section 3.1", llama, 60, 5120, 12288, 128, 128, 102400, 4096, deepseek_v2},
    {"deepseek-v3", "DeepSeek-V3 671B", "arXiv 2412.19437, section 4.2", llama, 61, 7168, 18432, 128, 128, 129280, 4096, deepseek_v3},
    {"kimi-k2", "Kimi K2 1T", "arXiv 2507.20534, section 2.3; config.json of moonshotai/Kimi-K2-Base", llama, 61, 7168, 18432, 64, 64,
     163840, 4096, kimi_k2},
};

}  // namespace

std::span<const CatalogueEntry> llama_entries() { return llama_networks; }

}  // namespace sextant
