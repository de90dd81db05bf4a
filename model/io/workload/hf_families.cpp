#include "model/io/workload/hf_families.hpp"

#include "model/io/workload/hf_parts.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::string_view disentangled = "attention that scores contents and distances in products of their own",
                           towers = "two towers, and a loss between all samples of a batch",
                           sound = "convolutions over sound in front of its layers", sparse = "attention to blocks and to chosen tokens",
                           mamba1 = "the scans of Mamba-1", chosen_keys = "attention to keys that an indexer chooses",
                           layer_embeddings = "embeddings of every layer, and heads of two widths",
                           column_scales = "a learned scale of each column behind attention and MLP";
constexpr OtherHfFamily others[] = {
    {"albert", "layers that share their weights", "bert"},
    {"big_bird", sparse, "bert"},
    {"clip", towers, "vit"},
    {"deberta", disentangled, "bert"},
    {"deberta-v2", disentangled, "bert"},
    {"deepseek_v32", chosen_keys, "deepseek_v3"},
    {"dinov2", column_scales, "vit"},
    {"dinov3_vit", column_scales, "vit"},
    {"falcon_h1", "attention and a state space side by side", "nemotron_h"},
    {"falcon_mamba", mamba1, "mamba2"},
    {"gemma3n", layer_embeddings, "gemma3"},
    {"gemma3n_text", layer_embeddings, "gemma3_text"},
    {"gemma4", layer_embeddings, "gemma3"},
    {"gemma4_text", layer_embeddings, "gemma3_text"},
    {"glm_moe_dsa", chosen_keys, "deepseek_v3"},
    {"hubert", sound, "bert"},
    {"jamba", mamba1, "nemotron_h"},
    {"lfm2", "short convolutions with gates in the place of attention", "qwen3"},
    {"longcat_flash", "two attentions in a layer, and experts beside both", "deepseek_v3"},
    {"longformer", sparse, "bert"},
    {"mamba", mamba1, "mamba2"},
    {"minimax", "linear attention in most layers", "minimax_m2"},
    {"mpnet", "biases for distances beside learned positions", "bert"},
    {"phimoe", "biases everywhere but in experts", "mixtral"},
    {"recurrent_gemma", "recurrences in the place of attention", "gemma2"},
    {"siglip", towers, "vit"},
    {"siglip2", towers, "vit"},
    {"umt5", "biases for distances in every layer", "mt5"},
    {"wav2vec2", sound, "bert"},
    {"wavlm", sound, "bert"},
    {"whisper", sound, "bart"},
    {"xlnet", "two streams of attention", "bert"},
};

}  // namespace

std::span<const OtherHfFamily> other_hf_families() { return others; }

std::vector<HfFamily> hf_families() {
    std::vector<HfFamily> all;
    for (const auto& some :
         {llama_families(), gemma_families(), gpt_families(), hybrid_families(), encoder_families(), encoder_decoder_families()})
        all.insert(all.end(), some.begin(), some.end());
    std::ranges::sort(all, {}, &HfFamily::model_type);
    return all;
}

}  // namespace sextant
