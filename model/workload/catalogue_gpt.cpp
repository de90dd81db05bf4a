// The catalogue: GPT and its relatives.
#include "model/workload/catalogue.hpp"

namespace sextant {
namespace {

void bloom(TransformerSpec& spec) {
    spec.position = PositionKind::alibi;
    spec.embedding_norm = true;
    spec.dropout = false;
}
void opt(TransformerSpec& spec) {
    spec.mlp = MlpKind::relu;
    spec.max_positions = spec.seq_len + 2;  // its position table starts at two
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

constexpr std::string_view gpt2 = "Radford et al. 2019, Language Models are Unsupervised Multitask Learners; openai/gpt-2 hparams.json";
// The paper's table prints d_model 5140 for 13B and 24 heads of 128 for XL, which do not agree with each other; the sizes that divide stand
// here. Its alternating sparse layers are taken as dense.
constexpr std::string_view gpt3 = "arXiv 2005.14165, table 2.1";
constexpr std::string_view megatron = "arXiv 2104.04473, table 1";
constexpr std::string_view megatron_sp = "arXiv 2205.05198, table 3";
constexpr std::string_view falcon_paper = "arXiv 2311.16867; config.json of tiiuae/falcon";

using enum NetworkStyle;
constexpr CatalogueEntry gpt_networks[] = {
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
    {"falcon-7b", "Falcon 7B", falcon_paper, gpt, 32, 4544, 18176, 71, 1, 65024, 2048, falcon},
    {"falcon-40b", "Falcon 40B", falcon_paper, gpt, 60, 8192, 32768, 128, 8, 65024, 2048, falcon},
    {"starcoder2-15b", "StarCoder2 15B", "arXiv 2402.19173; config.json of bigcode/starcoder2-15b", gpt, 40, 6144, 24576, 48, 4, 49152,
     4096, starcoder_2},
};

}  // namespace

std::span<const CatalogueEntry> gpt_entries() { return gpt_networks; }

}  // namespace sextant
