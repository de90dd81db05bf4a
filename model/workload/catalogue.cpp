// Networks by name: sizes as their papers and released configurations state them.
#include "model/workload/catalogue.hpp"

#include "model/base/spelling.hpp"
#include "model/workload/builders.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
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
        case NetworkStyle::gpt: break;
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

// The names that timm, and NVIDIA's tables of performance, give to bundled networks; models that are such a network with other weights; and
// what publications leave out of a name or put into it, beside case and punctuation, which find_workload looks past.
struct Alias {
    std::string_view name, network;
    std::int64_t image_px = 0;  // 0: as that network
};
constexpr Alias aliases[] = {
    {"vit_tiny_patch16_224", "vit-ti16"},
    {"vit_small_patch16_224", "vit-s16"},
    {"vit_small_patch32_224", "vit-s32"},
    {"vit_base_patch16_224", "vit-b16"},
    {"vit_base_patch32_224", "vit-b32"},
    {"vit_large_patch16_224", "vit-l16"},
    {"vit_large_patch32_224", "vit-l32"},
    {"vit_base_patch8_224", "vit-b8"},
    {"vit_large_patch14_224", "vit-l14"},
    {"vit_huge_patch14_224", "vit-h14"},
    {"vit_giant_patch14_224", "vit-g14"},
    {"vit_small_patch16_384", "vit-s16", 384},
    {"vit_small_patch32_384", "vit-s32", 384},
    {"vit_base_patch16_384", "vit-b16", 384},
    {"vit_base_patch32_384", "vit-b32", 384},
    {"vit_large_patch16_384", "vit-l16", 384},
    {"vit_large_patch32_384", "vit-l32", 384},
    {"deit_tiny_patch16_224", "vit-ti16"},
    {"deit_small_patch16_224", "vit-s16"},
    {"deit_base_patch16_224", "vit-b16"},
    {"deit_base_patch16_384", "vit-b16", 384},
    {"deit-tiny", "vit-ti16"},
    {"deit-small", "vit-s16"},
    {"deit-base", "vit-b16"},
    {"deit-ti", "vit-ti16"},
    {"deit-s", "vit-s16"},
    {"deit-b", "vit-b16"},
    {"vit-tiny", "vit-ti16"},
    {"vit-small", "vit-s16"},
    {"vit-base", "vit-b16"},
    {"vit-large", "vit-l16"},
    {"vit-huge", "vit-h14"},
    {"rn50", "resnet50"},
    {"resnet50_v1_5", "resnet50_v1.5"},
    {"resnet101_v1.5", "resnet101"},
    {"resnet152_v1.5", "resnet152"},
    {"wrn-50-2", "wide_resnet50_2"},
    {"wrn-101-2", "wide_resnet101_2"},
    {"squeezenet", "squeezenet1_0"},
    {"squeezenet v1.1", "squeezenet1_1"},
    {"convnext-t", "convnext_tiny"},
    {"convnext-s", "convnext_small"},
    {"convnext-b", "convnext_base"},
    {"convnext-l", "convnext_large"},
    {"convnext-tiny-224", "convnext_tiny"},
    {"convnext-small-224", "convnext_small"},
    {"convnext-base-224", "convnext_base"},
    {"convnext-large-224", "convnext_large"},
    {"swin-tiny", "swin_t"},
    {"swin-small", "swin_s"},
    {"swin-base", "swin_b"},
    {"swin-large", "swin_l"},
    {"mixer-s/32", "mixer_s32_224"},
    {"mixer-s/16", "mixer_s16_224"},
    {"mixer-b/32", "mixer_b32_224"},
    {"mixer-b/16", "mixer_b16_224"},
    {"mixer-l/32", "mixer_l32_224"},
    {"mixer-l/16", "mixer_l16_224"},
    {"gpt2-small", "gpt2"},
    {"gpt2-1.5b", "gpt2-xl"},
    {"Nemotron_3_Nano", "nemotron-3-nano-30b"},
    {"Nemotron 3 Nano 30B-A3B", "nemotron-3-nano-30b"},
    {"Nemotron V3 Nano 30B", "nemotron-3-nano-30b"},
    {"Nemotron_3_Super", "nemotron-3-super-120b"},
    {"Nemotron 3 Super 120B-A12B", "nemotron-3-super-120b"},
    {"Nemotron V3 Super 120B", "nemotron-3-super-120b"},
    {"Nemotron_3_Ultra", "nemotron-3-ultra-550b"},
    {"Nemotron 3 Ultra 550B-A55B", "nemotron-3-ultra-550b"},
    {"Nemotron V3 Ultra 550B", "nemotron-3-ultra-550b"},
    {"llama-30b", "llama-33b"},
    {"llama-3.1-8b", "llama-3-8b"},
    {"llama31-8b", "llama-3-8b"},
    {"llama-3.1-70b", "llama-3-70b"},
    {"llama-3.3-70b", "llama-3-70b"},
    {"llama-3-405b", "llama-3.1-405b"},
    {"llama31-405b", "llama-3.1-405b"},
    {"llama-4-scout-17b-16e", "llama-4-scout"},
    {"llama-4-maverick-17b-128e", "llama-4-maverick"},
    {"yi-1.5-6b", "yi-6b"},
    {"yi-1.5-9b", "yi-9b"},
    {"yi-1.5-34b", "yi-34b"},
    {"mistral-nemo", "mistral-nemo-12b"},
    {"mistral-small", "mistral-small-24b"},
    {"qwen2-0.5b", "qwen2.5-0.5b"},
    {"qwen2-1.5b", "qwen2.5-1.5b"},
    {"qwen2-7b", "qwen2.5-7b"},
    {"qwen2-72b", "qwen2.5-72b"},
    {"qwen3-30b", "qwen3-30b-a3b"},
    {"qwen3-235b", "qwen3-235b-a22b"},
    {"qwen3-next", "qwen3-next-80b-a3b"},
    {"deepseek-r1", "deepseek-v3"},
    {"distilbert", "distilbert-base"},
    {"bloom", "bloom-176b"},
    {"flan-t5-small", "t5-v1_1-small"},
    {"flan-t5-base", "t5-v1_1-base"},
    {"flan-t5-large", "t5-v1_1-large"},
    {"flan-t5-xl", "t5-v1_1-xl"},
    {"flan-t5-xxl", "t5-v1_1-xxl"},
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

using IsMeant = std::function<bool(std::string_view name)>;

// What a report calls a network is a name of it, too.
std::optional<Workload> find_network(const IsMeant& is_meant) {
    for (const auto& family : families())
        for (const CatalogueEntry& e : family)
            if (is_meant(e.name) || is_meant(e.title))
                return Workload{
                    .name = std::string(e.name), .title = std::string(e.title), .spec = spec_of(e), .source = std::string(e.source)};
    for (const ConvolutionalSpec& known : convolutional_specs())
        if (is_meant(known.name)) return Workload{.name = known.name, .title = known.name, .spec = known, .source = {}};
    return std::nullopt;
}

std::optional<Workload> find_listed(const IsMeant& is_meant) {
    const auto* alias = std::find_if(std::begin(aliases), std::end(aliases), [&](const Alias& a) { return is_meant(a.name); });
    if (alias == std::end(aliases)) return find_network(is_meant);
    auto found = find_network([&](std::string_view name) { return name == alias->network; });
    found->name = alias->name;
    if (alias->image_px > 0) {
        found->title = alias->name;
        std::get<TransformerSpec>(found->spec).image_px = alias->image_px;
    }
    return found;
}

// What names are compared by: letters in lower case and digits. Between two digits a point stays a point, and anything else is a dash:
// "Llama 2 7B" is "llama-2-7b" but no "llama-2.7b", and "llama-3-18b" is no "llama-3.1-8b".
std::string network_key(std::string_view name) {
    const auto is_digit = [](char c) { return '0' <= c && c <= '9'; };
    std::string key, between;
    for (const char c : lower_case(name)) {
        if (!is_digit(c) && (c < 'a' || c > 'z')) {
            between += c;
            continue;
        }
        if (!between.empty() && !key.empty() && is_digit(key.back()) && is_digit(c)) key += between == "." ? '.' : '-';
        between.clear();
        key += c;
    }
    return key;
}

std::optional<Workload> find_key(std::string_view key) {
    return find_listed([&](std::string_view name) { return network_key(name) == key; });
}

// Words behind a name that tell of no other network: that it is the first of its kind, if the name says which size of that ...
std::optional<Workload> find_first_version(std::string_view key) {
    for (const std::string_view version : {"v1", "v1.0", "v0.1"})
        if (key.ends_with(version)) {
            key.remove_suffix(version.size());
            return key.find_first_of("0123456789") == std::string_view::npos ? std::nullopt : find_key(key);
        }
    return std::nullopt;
}

// ... and how many parameters it has, if it has so many: authors round, and some leave embeddings out.
std::optional<Workload> find_sized(std::string_view key) {
    constexpr std::string_view units = "mbt";
    const std::size_t unit = key.empty() ? std::string_view::npos : units.find(key.back());
    if (unit == std::string_view::npos) return std::nullopt;
    key.remove_suffix(1);
    const std::size_t begin = key.find_last_not_of("0123456789.") + 1;
    double number = 0;
    const char* end = key.data() + key.size();
    if (std::from_chars(key.data() + begin, end, number).ptr != end || number <= 0) return std::nullopt;
    key = key.substr(0, begin);
    if (key.ends_with('-')) key.remove_suffix(1);
    auto found = find_key(key);
    constexpr double near = 0.1;
    const double said = number * std::pow(1e3, 2 + static_cast<double>(unit));
    return found && std::abs(size_of(*found).parameters / said - 1) < near ? found : std::nullopt;
}

std::optional<Workload> find_spelled(std::string_view name) {
    const std::string key = network_key(name);
    for (const auto& find : {find_key, find_first_version, find_sized})
        if (auto found = find(key)) return found;
    return std::nullopt;
}

// Without who published the weights, what they are good for, or where they came from, as Hugging Face and timm write it around a name:
// "meta-llama/Llama-2-7b-hf", "tf_efficientnet_b0_ns", "resnet50.a1_in1k".
std::string_view without_weights(std::string_view name) {
    name.remove_prefix(name.find('/') + 1);  // none: from the beginning
    const std::string all = lower_case(name);
    std::string_view bare = all;
    for (std::size_t at = bare.find('.'); at != std::string_view::npos && at + 1 < bare.size(); at = bare.find('.', at + 1))
        if ('a' <= bare[at + 1] && bare[at + 1] <= 'z') bare = bare.substr(0, at);
    for (const std::string_view weights :
         {"-hf", "-instruct", "-chat", "-it", "-uncased", "-in21k", "_in21k", "_in22k", "_in21ft1k", "_in22ft1k", "_ap", "_ns"})
        if (bare.ends_with(weights)) {
            bare.remove_suffix(weights.size());
            break;
        }
    const std::size_t end = bare.size();
    for (const std::string_view weights : {"tv_", "tf_", "gluon_", "ig_", "ssl_", "swsl_", "meta-"})
        if (bare.starts_with(weights)) {
            bare.remove_prefix(weights.size());
            break;
        }
    return name.substr(end - bare.size(), bare.size());
}

}  // namespace

std::optional<Workload> find_workload(std::string_view name) {
    if (auto exactly = find_listed([&](std::string_view listed) { return listed == name; })) return exactly;
    if (auto found = find_spelled(name)) return found;
    const std::string_view bare = without_weights(name);
    return bare == name ? std::nullopt : find_spelled(bare);
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
    for (const Alias& a : aliases) names.emplace_back(a.name);
    return names;
}

}  // namespace sextant
