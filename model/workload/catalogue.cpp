// Networks by name: sizes as their papers and released configurations state them.
#include "model/workload/catalogue.hpp"

#include "model/workload/builders.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sextant {
namespace {

TransformerSpec spec_of(NetworkStyle style) {
    TransformerSpec spec;  // GPT: learned positions, layer norm, GELU, biases, dropout, tied embeddings
    switch (style) {
        case NetworkStyle::gpt:
            break;
        case NetworkStyle::llama:
            spec.mlp = MlpKind::swiglu;
            spec.norm = NormKind::rms;
            spec.position = PositionKind::rotary;
            spec.tied_embeddings = spec.bias = spec.dropout = false;
            break;
        case NetworkStyle::hybrid:  // Nemotron-H: positions are in its states
            spec.mlp = MlpKind::squared_relu;
            spec.norm = NormKind::rms;
            spec.position = PositionKind::none;
            spec.tied_embeddings = spec.bias = spec.dropout = false;
            spec.head_dim = 128;
            break;
        case NetworkStyle::mpt:
            spec.position = PositionKind::alibi;
            spec.bias = spec.dropout = false;
            break;
        case NetworkStyle::bert:
            spec.kind = TransformerKind::encoder;
            spec.head = HeadKind::masked_lm_nsp;
            spec.bidirectional = spec.pooler = true;
            spec.type_vocab = 2;
            break;
        case NetworkStyle::t5:
            spec.kind = TransformerKind::encoder_decoder;
            spec.mlp = MlpKind::relu;
            spec.norm = NormKind::rms;
            spec.position = PositionKind::relative;
            spec.bias = false;
            spec.decoder_seq_len = 114;  // targets of span corruption over 512 inputs, arXiv 1910.10683 section 3.1.4
            break;
        case NetworkStyle::vit:
            spec.kind = TransformerKind::vision;
            spec.head = HeadKind::classifier;
            spec.dropout = false;  // as DeiT, torchvision and timm train it; the paper drops a tenth where images are few
            break;
    }
    return spec;
}

// The names that timm, and NVIDIA's tables of performance, give to networks of the table; and models that are such a network with other
// weights.
constexpr std::pair<std::string_view, std::string_view> aliases[] = {
    {"vit_tiny_patch16_224", "vit-ti16"},
    {"vit_small_patch16_224", "vit-s16"},
    {"vit_small_patch32_224", "vit-s32"},
    {"vit_base_patch16_224", "vit-b16"},
    {"vit_base_patch32_224", "vit-b32"},
    {"vit_large_patch16_224", "vit-l16"},
    {"vit_large_patch32_224", "vit-l32"},
    {"vit_huge_patch14_224", "vit-h14"},
    {"deit_tiny_patch16_224", "vit-ti16"},
    {"deit_small_patch16_224", "vit-s16"},
    {"deit_base_patch16_224", "vit-b16"},
    {"vit-base", "vit-b16"},
    {"vit-large", "vit-l16"},
    {"vit-huge", "vit-h14"},
    {"Nemotron_3_Nano", "nemotron-3-nano-30b"},
    {"Nemotron V3 Nano 30B", "nemotron-3-nano-30b"},
    {"Nemotron_3_Super", "nemotron-3-super-120b"},
    {"Nemotron V3 Super 120B", "nemotron-3-super-120b"},
    {"Nemotron_3_Ultra", "nemotron-3-ultra-550b"},
    {"Nemotron V3 Ultra 550B", "nemotron-3-ultra-550b"},
    {"llama-3.1-8b", "llama-3-8b"},
    {"llama-3.1-70b", "llama-3-70b"},
    {"llama-3.3-70b", "llama-3-70b"},
    {"llama-3-405b", "llama-3.1-405b"},
    {"yi-1.5-6b", "yi-6b"},
    {"yi-1.5-9b", "yi-9b"},
    {"yi-1.5-34b", "yi-34b"},
    {"mistral-nemo", "mistral-nemo-12b"},
    {"mistral-small", "mistral-small-24b"},
    {"qwen2-0.5b", "qwen2.5-0.5b"},
    {"qwen2-1.5b", "qwen2.5-1.5b"},
    {"qwen2-7b", "qwen2.5-7b"},
    {"qwen2-72b", "qwen2.5-72b"},
    {"deepseek-r1", "deepseek-v3"},
    {"distilbert", "distilbert-base"},
    {"bloom", "bloom-176b"},
};

std::array<std::span<const CatalogueEntry>, 4> families() { return {gpt_entries(), llama_entries(), hybrid_entries(), encoder_entries()}; }

TransformerSpec spec_of(const CatalogueEntry& e) {
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

}  // namespace

std::optional<Workload> find_workload(std::string_view name) {
    const auto* alias = std::find_if(std::begin(aliases), std::end(aliases), [&](const auto& a) { return a.first == name; });
    const std::string_view key = alias == std::end(aliases) ? name : alias->second;
    for (const auto& family : families())
        for (const CatalogueEntry& e : family)
            if (e.name == key)
                return Workload{
                    .name = std::string(name), .title = std::string(e.title), .spec = spec_of(e), .source = std::string(e.source)};
    for (const ConvolutionalSpec& known : convolutional_specs())
        if (known.name == name) return Workload{.name = known.name, .title = known.name, .spec = known, .source = {}};
    return std::nullopt;
}

std::vector<std::string> workload_names() {
    std::vector<std::string> names;
    for (const auto& family : families())
        for (const CatalogueEntry& e : family) names.emplace_back(e.name);
    for (std::string& name : convolutional_names()) names.push_back(std::move(name));
    return names;
}

std::vector<std::string> workload_aliases() {
    std::vector<std::string> names;
    for (const auto& [alias, name] : aliases) names.emplace_back(alias);
    return names;
}

}  // namespace sextant
