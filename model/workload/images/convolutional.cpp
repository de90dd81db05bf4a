#include "model/base/spelling.hpp"
#include "model/workload/builders.hpp"
#include "model/workload/images/families.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr std::int64_t most_channels = 65'536;

std::vector<Architecture> all_architectures() {
    std::vector<Architecture> all;
    for (auto* family : {plain_architectures,
                         residual_architectures,
                         inception_architectures,
                         dense_architectures,
                         mobile_architectures,
                         ghostnet_architectures,
                         convnext_architectures,
                         regnet_architectures,
                         swin_architectures,
                         xception_architectures,
                         shufflenet_architectures,
                         hrnet_architectures,
                         mixer_architectures,
                         maxvit_architectures,
                         pyramid_architectures,
                         darknet_architectures,
                         dla_architectures,
                         repvgg_architectures,
                         genet_architectures,
                         vovnet_architectures,
                         selecsls_architectures,
                         segmentation_architectures,
                         vision_transformer_architectures,
                         searched_mobile_architectures,
                         preactivated_architectures,
                         split_residual_architectures,
                         dual_path_architectures,
                         metaformer_architectures,
                         class_attention_architectures,
                         pooling_transformer_architectures,
                         twins_architectures,
                         inception_next_architectures,
                         repvit_architectures})
        for (Architecture& a : family()) all.push_back(std::move(a));
    return all;
}

// Made once: a name is looked up several times, and a plan builds its network for every shard.
const std::vector<Architecture>& architectures() {
    static const std::vector<Architecture> all = all_architectures();
    return all;
}

void refuse_unknown(Diagnostics& problems, const std::string& name) {
    const std::vector<std::string> names = convolutional_names();
    problems.add({.file = {},
                  .pointer = "/workload/name",
                  .what = "no convolutional network is called \"" + name + '"',
                  .hint = hint_for(name, {names.begin(), names.end()})});
}

}  // namespace

std::vector<std::string> convolutional_names() {
    std::vector<std::string> names;
    for (ConvolutionalSpec& spec : convolutional_specs()) names.push_back(std::move(spec.name));
    return names;
}

std::vector<ConvolutionalSpec> convolutional_specs() {
    std::vector<ConvolutionalSpec> specs;
    for (const Architecture& a : architectures())
        for (const std::string& name : a.names) specs.push_back({.name = name, .image_px = a.image_px, .classes = a.classes});
    return specs;
}

Network build_convolutional(const ConvolutionalSpec& spec, const Shard& shard) {
    Diagnostics problems;
    check_shard(problems, shard);
    refuse_transformer_cuts(problems, shard, "a convolutional network");
    require_between(problems, "/workload/image_px", "image_px", spec.image_px, 1, largest_image_px);
    require_between(problems, "/workload/channels", "channels", spec.channels, 1, most_channels);
    require_between(problems, "/workload/classes", "classes", spec.classes, 1, largest_extent);
    const std::vector<Architecture>& all = architectures();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Architecture& a) { return std::ranges::find(a.names, spec.name) != a.names.end(); });
    if (found == all.end()) refuse_unknown(problems, spec.name);
    problems.throw_if_any();

    NetworkBuilder network({.shard = shard, .size_pointer = "/workload/image_px"},
                           {.id = {}, .channels = spec.channels, .height = spec.image_px, .width = spec.image_px});
    found->build(network, spec.classes);
    return std::move(network).build();
}

}  // namespace sextant
