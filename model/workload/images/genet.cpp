// GPU-efficient networks (Lin et al., arXiv 2006.14090, section 3 and table 4): plain residuals first, then bottlenecks, then inverted ones
// that filter each channel by itself.
#include "model/workload/images/families.hpp"

namespace sextant {
namespace {

enum class Inner { plain, narrow, inverted };  // two 3x3; a 1x1 to a quarter and back around a 3x3; to thrice and back, depthwise

struct EfficientStage {
    Inner inner;
    int blocks;
    std::int64_t channels, stride;
};

struct EfficientNetwork {
    const char* name;
    std::int64_t stem_channels;
    std::vector<EfficientStage> stages;
    std::int64_t head_channels, image_px;
};

Image efficient_block(Layers& l, Image x, const EfficientStage& s, std::int64_t stride) {
    Image y = x;
    if (s.inner == Inner::plain) {
        y = l.conv_norm_relu("conv1", y, {.out_channels = s.channels, .kernel = 3, .stride = stride});
        y = l.conv_norm("conv2", y, {.out_channels = s.channels, .kernel = 3});
    } else {
        const bool inverted = s.inner == Inner::inverted;
        const std::int64_t inner = inverted ? 3 * s.channels : s.channels / 4;
        y = l.conv_norm_relu("conv1", y, {.out_channels = inner});
        y = l.conv_norm_relu("conv2", y, {.out_channels = inner, .kernel = 3, .stride = stride, .groups = inverted ? inner : 1});
        y = l.conv_norm("conv3", y, {.out_channels = s.channels});
    }
    if (x.channels != s.channels || stride > 1) x = l.conv_norm("downsample", x, {.out_channels = s.channels, .stride = stride});
    return l.relu(l.add("add", y, x));
}

void build_genet(NetworkBuilder& network, const EfficientNetwork& e, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return l.conv_norm_relu("conv", x, {.out_channels = e.stem_channels, .kernel = 3, .stride = 2});
    });
    for (std::size_t stage = 0; stage < e.stages.size(); ++stage)
        for (int i = 0; i < e.stages[stage].blocks; ++i)
            network.block("stage " + std::to_string(stage + 1) + " residual", BlockRole::layer,
                          [&](Layers& l, Image x) { return efficient_block(l, x, e.stages[stage], i == 0 ? e.stages[stage].stride : 1); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        return l.classifier(l.global_pool(l.conv_norm_relu("conv", x, {.out_channels = e.head_channels})), classes);
    });
}

}  // namespace

std::vector<Architecture> genet_architectures() {
    constexpr Inner plain = Inner::plain, narrow = Inner::narrow, inverted = Inner::inverted;
    const EfficientNetwork networks[] = {
        {"gernet_s",
         13,
         {{plain, 1, 48, 2}, {plain, 3, 48, 2}, {narrow, 7, 384, 2}, {inverted, 2, 560, 2}, {inverted, 1, 256, 1}},
         1920,
         224},
        {"gernet_m",
         32,
         {{plain, 1, 128, 2}, {plain, 2, 192, 2}, {narrow, 6, 640, 2}, {inverted, 4, 640, 2}, {inverted, 1, 640, 1}},
         2560,
         224},
        {"gernet_l",
         32,
         {{plain, 1, 128, 2}, {plain, 2, 192, 2}, {narrow, 6, 640, 2}, {inverted, 5, 640, 2}, {inverted, 4, 640, 1}},
         2560,
         256},
    };
    std::vector<Architecture> all;
    for (const EfficientNetwork& e : networks)
        all.push_back({{e.name}, [e](NetworkBuilder& n, std::int64_t classes) { build_genet(n, e, classes); }, e.image_px});
    return all;
}

}  // namespace sextant
