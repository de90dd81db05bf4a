// Networks by name: sizes as their papers and released configurations state them.
#include "model/workload/workload.hpp"

#include <algorithm>
#include <iterator>

namespace sextant {
namespace {

enum class Style { gpt, llama, hybrid, mpt, bert, t5, vit };

TransformerSpec spec_of(Style style) {
    TransformerSpec spec;  // GPT: learned positions, layer norm, GELU, biases, dropout, tied embeddings
    switch (style) {
        case Style::gpt:
            break;
        case Style::llama:
            spec.mlp = MlpKind::swiglu;
            spec.norm = NormKind::rms;
            spec.position = PositionKind::rotary;
            spec.tied_embeddings = spec.bias = spec.dropout = false;
            break;
        case Style::hybrid:  // Nemotron-H: positions are in its states
            spec.mlp = MlpKind::squared_relu;
            spec.norm = NormKind::rms;
            spec.position = PositionKind::none;
            spec.tied_embeddings = spec.bias = spec.dropout = false;
            spec.head_dim = 128;
            break;
        case Style::mpt:
            spec.position = PositionKind::alibi;
            spec.bias = spec.dropout = false;
            break;
        case Style::bert:
            spec.kind = TransformerKind::encoder;
            spec.head = HeadKind::masked_lm_nsp;
            spec.bidirectional = spec.pooler = true;
            spec.type_vocab = 2;
            break;
        case Style::t5:
            spec.kind = TransformerKind::encoder_decoder;
            spec.mlp = MlpKind::relu;
            spec.norm = NormKind::rms;
            spec.position = PositionKind::relative;
            spec.bias = false;
            spec.decoder_seq_len = 114;  // targets of span corruption over 512 inputs, arXiv 1910.10683 section 3.1.4
            break;
        case Style::vit:
            spec.kind = TransformerKind::vision;
            spec.head = HeadKind::classifier;
            spec.dropout = false;  // as DeiT, torchvision and timm train it; the paper drops a tenth where images are few
            break;
    }
    return spec;
}

// One network: its style, its sizes, and what else sets it apart.
struct Entry {
    std::string_view name, title, source;
    Style style;
    std::int64_t layers, hidden, ffn_hidden, heads, kv_heads, vocab, seq_len;
    void (*adjust)(TransformerSpec&) = nullptr;
};

void bloom(TransformerSpec& spec) {
    spec.position = PositionKind::alibi;
    spec.embedding_norm = true;
    spec.dropout = false;
}
void opt(TransformerSpec& spec) {
    spec.mlp = MlpKind::relu;
    spec.max_positions = spec.seq_len + 2;  // its position table starts at two
}
void mistral(TransformerSpec& spec) { spec.sliding_window = 4096; }
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

std::string times(int count, std::string_view pattern) {
    std::string all;
    for (int i = 0; i < count; ++i) all += pattern;
    return all;
}
void mamba2_27b(TransformerSpec& spec) {
    spec.layer_pattern = times(64, "M");
    spec.ssm = StateSpace{.heads = 80, .chunk = 256};
    spec.tied_embeddings = true;
}
void nemotron_h_8b(TransformerSpec& spec) {
    spec.layer_pattern = "M-M-M-M*-" + times(3, "M-M-M-M-M*-") + "M-M-M-M-M-";
    spec.ssm = StateSpace{.heads = 128, .groups = 8};
}
void nemotron_h_56b(TransformerSpec& spec) {
    spec.layer_pattern = "M-M-M-M*-" + times(9, "M-M-M-M-M*-") + "M-M-M-M-M-";
    spec.ssm = StateSpace{.heads = 256, .groups = 8, .state = 256};
}
void nemotron_nano_9b(TransformerSpec& spec) {
    spec.layer_pattern = "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-";
    spec.ssm = StateSpace{.heads = 128, .head_dim = 80, .groups = 8};
}
void nemotron_3_nano(TransformerSpec& spec) {
    spec.layer_pattern = times(5, "MEMEM*E") + "MEMEMEM*EMEMEMEME";
    spec.ssm = StateSpace{.heads = 64, .groups = 8};
    spec.moe = MixtureOfExperts{.experts = 128, .topk = 6, .ffn_hidden = 1856, .shared_ffn_hidden = 3712, .sigmoid_router = true};
}
void nemotron_3_super(TransformerSpec& spec) {
    spec.layer_pattern = "MEMEMEM*EMEMEMEM*EMEMEMEM*" + times(4, "EMEMEMEMEM*") + "EMEMEMEM*EMEMEMEME";
    spec.ssm = StateSpace{.heads = 128, .groups = 8};
    spec.moe =
        MixtureOfExperts{.experts = 512, .topk = 22, .ffn_hidden = 2688, .shared_ffn_hidden = 5376, .latent = 1024, .sigmoid_router = true};
    spec.mtp_layers = 2;
}
// Twelve of these groups of layers in all; some of them are a pair shorter or longer, which no cost depends on.
void nemotron_3_ultra(TransformerSpec& spec) {
    spec.layer_pattern = times(12, "MEMEMEM*E");
    spec.ssm = StateSpace{.heads = 256, .groups = 8};
    spec.moe = MixtureOfExperts{
        .experts = 512, .topk = 22, .ffn_hidden = 5120, .shared_ffn_hidden = 10240, .latent = 2048, .sigmoid_router = true};
    spec.mtp_layers = 1;
}
// A letter is half of what the paper calls a layer.
void qwen3_next(TransformerSpec& spec) {
    spec.layer_pattern = times(12, "GEGEGE*E");
    spec.delta_rule = DeltaRule{};
    spec.moe = MixtureOfExperts{.experts = 512, .topk = 10, .ffn_hidden = 512, .shared_ffn_hidden = 512, .shared_gate = true};
    spec.head_dim = 256;
    spec.qk_norm = spec.attention_gate = true;
}

// Attention in windows in every second layer, beginning with the first (Gemma 2), or in all but every sixth (Gemma 3).
void gemma_2(TransformerSpec& spec) {
    spec.mlp = MlpKind::geglu;
    spec.tied_embeddings = true;
    spec.norm_placement = NormPlacement::both;
    spec.sliding_window = 4096;
    spec.full_attention_every = 2;
    spec.logit_softcap = 30;
    spec.head_dim = 128;
}
void gemma_2_9b(TransformerSpec& spec) {
    gemma_2(spec);
    spec.head_dim = 256;
}
void gemma_3_27b(TransformerSpec& spec) {
    gemma_2(spec);
    spec.sliding_window = 1024;
    spec.full_attention_every = 6;
    spec.logit_softcap = 0;
    spec.qk_norm = true;
}
void olmo_2(TransformerSpec& spec) {
    spec.norm_placement = NormPlacement::output;
    spec.qk_norm = spec.qk_norm_whole = true;
}
void falcon(TransformerSpec& spec) {
    spec.position = PositionKind::rotary;
    spec.bias = spec.dropout = false;
    spec.norm_bias = spec.parallel_residual = true;
    spec.shared_norm = spec.kv_heads == 1;  // 7B
}
void starcoder_2(TransformerSpec& spec) {
    spec.position = PositionKind::rotary;
    spec.tied_embeddings = false;
    spec.sliding_window = 4096;
}

void pretraining(TransformerSpec& spec) { spec.predicted_tokens = 77; }  // 15 % of 512 tokens, arXiv 1810.04805 section 3.1
void squad(TransformerSpec& spec) {
    spec.head = HeadKind::question_answering;
    spec.pooler = false;
    spec.max_positions = 512;
}
void head_64(TransformerSpec& spec) { spec.head_dim = 64; }
void head_128(TransformerSpec& spec) { spec.head_dim = 128; }
void patch_14(TransformerSpec& spec) { spec.patch_px = 14; }
void patch_32(TransformerSpec& spec) { spec.patch_px = 32; }

constexpr std::string_view gpt2 = "Radford et al. 2019, Language Models are Unsupervised Multitask Learners; openai/gpt-2 hparams.json";
// The paper's table prints d_model 5140 for 13B and 24 heads of 128 for XL, which do not agree with each other; the sizes that divide stand
// here. Its alternating sparse layers are taken as dense.
constexpr std::string_view gpt3 = "arXiv 2005.14165, table 2.1";
constexpr std::string_view megatron = "arXiv 2104.04473, table 1";
constexpr std::string_view megatron_sp = "arXiv 2205.05198, table 3";
constexpr std::string_view llama1 = "arXiv 2302.13971, table 2";
constexpr std::string_view llama2 = "arXiv 2307.09288; config.json of meta-llama/Llama-2";
constexpr std::string_view llama3 = "arXiv 2407.21783, table 3";
constexpr std::string_view qwen25 = "arXiv 2412.15115, table 1; config.json of Qwen/Qwen2.5";
constexpr std::string_view qwen3_paper = "arXiv 2505.09388, tables 1 and 2; config.json of Qwen/Qwen3";
constexpr std::string_view gemma2_paper = "arXiv 2408.00118, table 1; config.json of google/gemma-2";
constexpr std::string_view olmo2_paper = "arXiv 2501.00656, section 2.1; config.json of allenai/OLMo-2-1124";
constexpr std::string_view falcon_paper = "arXiv 2311.16867; config.json of tiiuae/falcon";
constexpr std::string_view nemotron_h = "arXiv 2504.03624, table 1; NVIDIA-NeMo/Megatron-Bridge, models/nemotronh/nemotron_h_provider.py";
constexpr std::string_view nemotron_3 = "NVIDIA-NeMo/Megatron-Bridge, models/nemotronh/nemotron_h_provider.py";
constexpr std::string_view bert_paper = "arXiv 1810.04805, section 3";
constexpr std::string_view t5_paper = "arXiv 1910.10683, section 3.7; config.json of google-t5";
constexpr std::string_view vit_paper = "arXiv 2010.11929, table 1";
constexpr std::string_view deit = "arXiv 2012.12877, table 1 (small)";

using enum Style;
constexpr Entry entries[] = {
    {"gpt2", "GPT-2 124M", gpt2, gpt, 12, 768, 3072, 12, 12, 50257, 1024},
    {"gpt2-medium", "GPT-2 355M", gpt2, gpt, 24, 1024, 4096, 16, 16, 50257, 1024},
    {"gpt2-large", "GPT-2 774M", gpt2, gpt, 36, 1280, 5120, 20, 20, 50257, 1024},
    {"gpt2-xl", "GPT-2 1.6B", gpt2, gpt, 48, 1600, 6400, 25, 25, 50257, 1024},
    {"gpt3-125m", "GPT-3 Small", gpt3, gpt, 12, 768, 3072, 12, 12, 50257, 2048},
    {"gpt3-350m", "GPT-3 Medium", gpt3, gpt, 24, 1024, 4096, 16, 16, 50257, 2048},
    {"gpt3-760m", "GPT-3 Large", gpt3, gpt, 24, 1536, 6144, 16, 16, 50257, 2048},
    {"gpt3-1.3b", "GPT-3 XL", gpt3, gpt, 24, 2048, 8192, 16, 16, 50257, 2048},
    {"gpt3-2.7b", "GPT-3 2.7B", gpt3, gpt, 32, 2560, 10240, 32, 32, 50257, 2048},
    {"gpt3-6.7b", "GPT-3 6.7B", gpt3, gpt, 32, 4096, 16384, 32, 32, 50257, 2048},
    {"gpt3-13b", "GPT-3 13B", gpt3, gpt, 40, 5120, 20480, 40, 40, 50257, 2048},
    {"gpt3-175b", "GPT-3 175B", gpt3, gpt, 96, 12288, 49152, 96, 96, 50257, 2048},
    {"megatron-1.7b", "Megatron GPT 1.7B", megatron, gpt, 24, 2304, 9216, 24, 24, 51200, 2048},
    {"megatron-3.6b", "Megatron GPT 3.6B", megatron, gpt, 30, 3072, 12288, 32, 32, 51200, 2048},
    {"megatron-7.5b", "Megatron GPT 7.5B", megatron, gpt, 36, 4096, 16384, 32, 32, 51200, 2048},
    {"megatron-18b", "Megatron GPT 18B", megatron, gpt, 40, 6144, 24576, 48, 48, 51200, 2048},
    {"megatron-22b", "Megatron GPT 22B", megatron_sp, gpt, 48, 6144, 24576, 64, 64, 51200, 2048},
    {"megatron-39b", "Megatron GPT 39B", megatron, gpt, 48, 8192, 32768, 64, 64, 51200, 2048},
    {"megatron-76b", "Megatron GPT 76B", megatron, gpt, 60, 10240, 40960, 80, 80, 51200, 2048},
    {"megatron-145b", "Megatron GPT 145B", megatron, gpt, 80, 12288, 49152, 96, 96, 51200, 2048},
    {"megatron-175b", "Megatron GPT 175B", megatron_sp, gpt, 96, 12288, 49152, 96, 96, 51200, 2048},
    {"megatron-310b", "Megatron GPT 310B", megatron, gpt, 96, 16384, 65536, 128, 128, 51200, 2048},
    {"megatron-530b", "Megatron-Turing NLG 530B", megatron, gpt, 105, 20480, 81920, 128, 128, 51200, 2048},
    {"megatron-1t", "Megatron GPT 1T", megatron, gpt, 128, 25600, 102400, 160, 160, 51200, 2048},
    {"bloom-176b", "BLOOM 176B", "arXiv 2211.05100, table 3", gpt, 70, 14336, 57344, 112, 112, 250880, 2048, bloom},
    {"opt-175b", "OPT 175B", "arXiv 2205.01068, table 1", gpt, 96, 12288, 49152, 96, 96, 50272, 2048, opt},
    {"mpt-7b", "MPT 7B", "config.json of mosaicml/mpt-7b", mpt, 32, 4096, 16384, 32, 32, 50432, 2048},
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
    {"mistral-7b", "Mistral 7B", "arXiv 2310.06825, table 1", llama, 32, 4096, 14336, 32, 8, 32000, 8192, mistral},
    {"mixtral-8x7b", "Mixtral 8x7B", "arXiv 2401.04088, table 1", llama, 32, 4096, 14336, 32, 8, 32000, 32768, mixtral},
    {"mixtral-8x22b", "Mixtral 8x22B", "config.json of mistralai/Mixtral-8x22B-v0.1", llama, 56, 6144, 16384, 48, 8, 32000, 65536, mixtral},
    {"grok-1", "Grok-1 314B", "xai-org/grok-1 run.py", llama, 64, 6144, 32768, 48, 8, 131072, 8192, grok},
    {"nemotron-4-15b", "Nemotron-4 15B", "arXiv 2402.16819, table 1", llama, 32, 6144, 24576, 48, 8, 256000, 4096, nemotron},
    {"nemotron-4-340b", "Nemotron-4 340B", "arXiv 2406.11704, table 1", llama, 96, 18432, 73728, 96, 8, 256000, 4096, nemotron},
    {"mamba2-2.7b", "Mamba-2 2.7B", "arXiv 2405.21060, section 9.2; config.json of state-spaces/mamba2-2.7b", hybrid, 64, 2560, 10240, 20,
     20, 50288, 2048, mamba2_27b},
    {"nemotron-h-8b", "Nemotron-H 8B", nemotron_h, hybrid, 52, 4096, 21504, 32, 8, 131072, 8192, nemotron_h_8b},
    {"nemotron-h-56b", "Nemotron-H 56B", nemotron_h, hybrid, 118, 8192, 32768, 64, 8, 131072, 8192, nemotron_h_56b},
    {"nemotron-nano-9b-v2", "Nemotron Nano 9B v2", nemotron_3, hybrid, 56, 4480, 15680, 40, 8, 131072, 8192, nemotron_nano_9b},
    {"nemotron-3-nano-30b", "Nemotron 3 Nano 30B", nemotron_3, hybrid, 52, 2688, 1856, 32, 2, 131072, 8192, nemotron_3_nano},
    {"nemotron-3-super-120b", "Nemotron 3 Super 120B", nemotron_3, hybrid, 88, 4096, 2688, 32, 2, 131072, 8192, nemotron_3_super},
    {"nemotron-3-ultra-550b", "Nemotron 3 Ultra 550B", "config.json of nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B", hybrid, 108, 8192, 5120,
     64, 2, 131072, 8192, nemotron_3_ultra},
    {"qwen2.5-0.5b", "Qwen2.5 0.5B", qwen25, llama, 24, 896, 4864, 14, 2, 151936, 4096, tied_qwen},
    {"qwen2.5-1.5b", "Qwen2.5 1.5B", qwen25, llama, 28, 1536, 8960, 12, 2, 151936, 4096, tied_qwen},
    {"qwen2.5-3b", "Qwen2.5 3B", qwen25, llama, 36, 2048, 11008, 16, 2, 151936, 4096, tied_qwen},
    {"qwen2.5-7b", "Qwen2.5 7B", qwen25, llama, 28, 3584, 18944, 28, 4, 152064, 4096, qwen},
    {"qwen2.5-14b", "Qwen2.5 14B", qwen25, llama, 48, 5120, 13824, 40, 8, 152064, 4096, qwen},
    {"qwen2.5-32b", "Qwen2.5 32B", qwen25, llama, 64, 5120, 27648, 40, 8, 152064, 4096, qwen},
    {"qwen2.5-72b", "Qwen2.5 72B", qwen25, llama, 80, 8192, 29568, 64, 8, 152064, 4096, qwen},
    {"qwen3-8b", "Qwen3 8B", qwen3_paper, llama, 36, 4096, 12288, 32, 8, 151936, 4096, qwen3},
    {"qwen3-14b", "Qwen3 14B", qwen3_paper, llama, 40, 5120, 17408, 40, 8, 151936, 4096, qwen3},
    {"qwen3-32b", "Qwen3 32B", qwen3_paper, llama, 64, 5120, 25600, 64, 8, 151936, 4096, qwen3},
    {"qwen3-30b-a3b", "Qwen3 30B-A3B", qwen3_paper, llama, 48, 2048, 6144, 32, 4, 151936, 4096, qwen3_30b_a3b},
    {"qwen3-235b-a22b", "Qwen3 235B-A22B", qwen3_paper, llama, 94, 4096, 12288, 64, 4, 151936, 4096, qwen3_235b_a22b},
    {"qwen3-next-80b-a3b", "Qwen3-Next 80B-A3B", "config.json of Qwen/Qwen3-Next-80B-A3B-Instruct", llama, 96, 2048, 5120, 16, 2, 151936,
     4096, qwen3_next},
    {"gemma-2-9b", "Gemma 2 9B", gemma2_paper, llama, 42, 3584, 14336, 16, 8, 256000, 8192, gemma_2_9b},
    {"gemma-2-27b", "Gemma 2 27B", gemma2_paper, llama, 46, 4608, 36864, 32, 16, 256000, 8192, gemma_2},
    {"gemma-3-27b", "Gemma 3 27B (text)", "arXiv 2503.19786, section 2; config.json of google/gemma-3-27b-pt", llama, 62, 5376, 21504, 32,
     16, 262208, 32768, gemma_3_27b},
    {"olmo-2-7b", "OLMo 2 7B", olmo2_paper, llama, 32, 4096, 11008, 32, 32, 100352, 4096, olmo_2},
    {"olmo-2-13b", "OLMo 2 13B", olmo2_paper, llama, 40, 5120, 13824, 40, 40, 100352, 4096, olmo_2},
    {"glm-4-9b", "GLM-4 9B", "config.json of THUDM/glm-4-9b-hf", llama, 40, 4096, 13696, 32, 2, 151552, 8192, qwen},
    {"falcon-7b", "Falcon 7B", falcon_paper, gpt, 32, 4544, 18176, 71, 1, 65024, 2048, falcon},
    {"falcon-40b", "Falcon 40B", falcon_paper, gpt, 60, 8192, 32768, 128, 8, 65024, 2048, falcon},
    {"starcoder2-15b", "StarCoder2 15B", "arXiv 2402.19173; config.json of bigcode/starcoder2-15b", gpt, 40, 6144, 24576, 48, 4, 49152,
     4096, starcoder_2},
    {"deepseek-v2-lite", "DeepSeek-V2-Lite 16B", "arXiv 2405.04434, appendix B", llama, 27, 2048, 10944, 16, 16, 102400, 4096,
     deepseek_v2_lite},
    {"deepseek-v2", "DeepSeek-V2 236B", "arXiv 2405.04434, section 3.1", llama, 60, 5120, 12288, 128, 128, 102400, 4096, deepseek_v2},
    {"deepseek-v3", "DeepSeek-V3 671B", "arXiv 2412.19437, section 4.2", llama, 61, 7168, 18432, 128, 128, 129280, 4096, deepseek_v3},
    {"bert-base", "BERT base", bert_paper, bert, 12, 768, 3072, 12, 12, 30522, 512, pretraining},
    {"bert-large", "BERT large", bert_paper, bert, 24, 1024, 4096, 16, 16, 30522, 512, pretraining},
    {"bert-base-squad", "BERT base, SQuAD", bert_paper, bert, 12, 768, 3072, 12, 12, 30522, 384, squad},
    {"bert-large-squad", "BERT large, SQuAD", bert_paper, bert, 24, 1024, 4096, 16, 16, 30522, 384, squad},
    {"t5-small", "T5 small", t5_paper, t5, 6, 512, 2048, 8, 8, 32128, 512, head_64},
    {"t5-base", "T5 base", t5_paper, t5, 12, 768, 3072, 12, 12, 32128, 512, head_64},
    {"t5-large", "T5 large", t5_paper, t5, 24, 1024, 4096, 16, 16, 32128, 512, head_64},
    {"t5-3b", "T5 3B", t5_paper, t5, 24, 1024, 16384, 32, 32, 32128, 512, head_128},
    {"t5-11b", "T5 11B", t5_paper, t5, 24, 1024, 65536, 128, 128, 32128, 512, head_128},
    {"vit-s16", "ViT-S/16", deit, vit, 12, 384, 1536, 6, 6, 1, 197},
    {"vit-b16", "ViT-B/16", vit_paper, vit, 12, 768, 3072, 12, 12, 1, 197},
    {"vit-b32", "ViT-B/32", vit_paper, vit, 12, 768, 3072, 12, 12, 1, 50, patch_32},
    {"vit-l16", "ViT-L/16", vit_paper, vit, 24, 1024, 4096, 16, 16, 1, 197},
    {"vit-l32", "ViT-L/32", vit_paper, vit, 24, 1024, 4096, 16, 16, 1, 50, patch_32},
    {"vit-h14", "ViT-H/14", vit_paper, vit, 32, 1280, 5120, 16, 16, 1, 257, patch_14},
};

// The names that timm, and NVIDIA's tables of performance, give to networks of the table.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"vit_small_patch16_224", "vit-s16"},          {"vit_base_patch16_224", "vit-b16"},
    {"vit_base_patch32_224", "vit-b32"},           {"vit_large_patch16_224", "vit-l16"},
    {"vit_large_patch32_224", "vit-l32"},          {"vit_huge_patch14_224", "vit-h14"},
    {"Nemotron_3_Nano", "nemotron-3-nano-30b"},    {"Nemotron V3 Nano 30B", "nemotron-3-nano-30b"},
    {"Nemotron_3_Super", "nemotron-3-super-120b"}, {"Nemotron V3 Super 120B", "nemotron-3-super-120b"},
    {"Nemotron_3_Ultra", "nemotron-3-ultra-550b"}, {"Nemotron V3 Ultra 550B", "nemotron-3-ultra-550b"},
};

TransformerSpec spec_of(const Entry& e) {
    TransformerSpec spec = spec_of(e.style);
    spec.layers = e.layers;
    spec.hidden = e.hidden;
    spec.ffn_hidden = e.ffn_hidden;
    spec.heads = e.heads;
    spec.kv_heads = e.kv_heads;
    spec.vocab = e.vocab;
    spec.seq_len = e.seq_len;
    if (e.adjust != nullptr) e.adjust(spec);
    return spec;
}

// Inception v3 takes 299 px (arXiv 1512.00567, table 1), the other convolutional networks 224.
Workload convolutional(const std::string& name) {
    const bool inception_v3 = name.starts_with("inception_v3") || name == "inceptionv3" || name == "inception3";
    return {.name = name, .title = name, .spec = ConvolutionalSpec{.name = name, .image_px = inception_v3 ? 299 : 224}, .source = {}};
}

}  // namespace

std::optional<Workload> find_workload(std::string_view name) {
    const auto* alias = std::find_if(std::begin(aliases), std::end(aliases), [&](const auto& a) { return a.first == name; });
    const std::string_view key = alias == std::end(aliases) ? name : alias->second;
    const auto* entry = std::find_if(std::begin(entries), std::end(entries), [&](const Entry& e) { return e.name == key; });
    if (entry != std::end(entries))
        return Workload{
            .name = std::string(name), .title = std::string(entry->title), .spec = spec_of(*entry), .source = std::string(entry->source)};
    for (const std::string& known : convolutional_names())
        if (known == name) return convolutional(known);
    return std::nullopt;
}

std::vector<std::string> workload_names() {
    std::vector<std::string> names;
    for (const Entry& e : entries) names.emplace_back(e.name);
    for (std::string& name : convolutional_names()) names.push_back(std::move(name));
    return names;
}

}  // namespace sextant
