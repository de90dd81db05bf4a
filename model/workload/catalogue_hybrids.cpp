// The catalogue: networks whose layers are state spaces, delta rules, attention, MLPs or experts.
#include "model/workload/catalogue.hpp"

#include <string>
#include <string_view>

namespace sextant {
namespace {

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

constexpr std::string_view nemotron_h = "arXiv 2504.03624, table 1; NVIDIA-NeMo/Megatron-Bridge, models/nemotronh/nemotron_h_provider.py";
constexpr std::string_view nemotron_3 = "NVIDIA-NeMo/Megatron-Bridge, models/nemotronh/nemotron_h_provider.py";

using enum NetworkStyle;
constexpr CatalogueEntry hybrid_networks[] = {
    {"mamba2-2.7b", "Mamba-2 2.7B", "arXiv 2405.21060, section 9.2; config.json of state-spaces/mamba2-2.7b", hybrid, 64, 2560, 10240, 20,
     20, 50288, 2048, mamba2_27b},
    {"nemotron-h-8b", "Nemotron-H 8B", nemotron_h, hybrid, 52, 4096, 21504, 32, 8, 131072, 8192, nemotron_h_8b},
    {"nemotron-h-56b", "Nemotron-H 56B", nemotron_h, hybrid, 118, 8192, 32768, 64, 8, 131072, 8192, nemotron_h_56b},
    {"nemotron-nano-9b-v2", "Nemotron Nano 9B v2", nemotron_3, hybrid, 56, 4480, 15680, 40, 8, 131072, 8192, nemotron_nano_9b},
    {"nemotron-3-nano-30b", "Nemotron 3 Nano 30B", nemotron_3, hybrid, 52, 2688, 1856, 32, 2, 131072, 8192, nemotron_3_nano},
    {"nemotron-3-super-120b", "Nemotron 3 Super 120B", nemotron_3, hybrid, 88, 4096, 2688, 32, 2, 131072, 8192, nemotron_3_super},
    {"nemotron-3-ultra-550b", "Nemotron 3 Ultra 550B", "config.json of nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B", hybrid, 108, 8192, 5120,
     64, 2, 131072, 8192, nemotron_3_ultra},
    {"qwen3-next-80b-a3b", "Qwen3-Next 80B-A3B", "config.json of Qwen/Qwen3-Next-80B-A3B-Instruct", llama, 96, 2048, 5120, 16, 2, 151936,
     4096, qwen3_next},
};

}  // namespace

std::span<const CatalogueEntry> hybrid_entries() { return hybrid_networks; }

}  // namespace sextant
