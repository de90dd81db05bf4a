// MobileNetV2 (Sandler et al., arXiv 1801.04381, table 2) and EfficientNet-B0 (Tan and Le, arXiv 1905.11946, table 1): inverted residuals,
// that is expand by a 1x1, filter each channel by itself, project by a 1x1 without an activation.
#include "model/workload/convolutional_families.hpp"

namespace sextant {
namespace {

struct MobileStage {
    std::int64_t expansion, kernel, channels;
    int blocks;
    std::int64_t stride;  // of the first block
};

struct MobileNetwork {
    std::vector<std::string> names;
    PointwiseKind activation;
    bool squeeze_excite;
    std::vector<MobileStage> stages;
};

// Squeeze and excitation (arXiv 1709.01507): a factor for each channel from the averages of all of them. The squeezed width is a quarter of
// the block's input.
Image squeeze_excite(Layers& l, Image x, std::int64_t squeezed) {
    Image s = l.activation(l.linear("squeeze", l.global_pool(x), squeezed), PointwiseKind::silu);
    s = l.activation(l.linear("excite", s, x.channels), PointwiseKind::sigmoid);
    return l.gate("gate", x, s);
}

Image inverted_residual(Layers& l, Image x, const MobileStage& stage, std::int64_t stride, const MobileNetwork& m) {
    const std::int64_t wide = x.channels * stage.expansion;
    Image y = x;
    if (stage.expansion > 1) y = l.activation(l.norm("expand.bn", l.conv("expand", y, {.out_channels = wide})), m.activation);
    y = l.conv("depthwise", y, {.out_channels = wide, .kernel = stage.kernel, .stride = stride, .groups = wide});
    y = l.activation(l.norm("depthwise.bn", y), m.activation);
    if (m.squeeze_excite) y = squeeze_excite(l, y, x.channels / 4);
    y = l.norm("project.bn", l.conv("project", y, {.out_channels = stage.channels}));
    return stride == 1 && x.channels == stage.channels ? l.add("add", y, x) : y;
}

void build_mobile(NetworkBuilder& network, const MobileNetwork& m, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return l.activation(l.norm("bn", l.conv("conv", x, {.out_channels = 32, .kernel = 3, .stride = 2})), m.activation);
    });
    for (std::size_t stage = 0; stage < m.stages.size(); ++stage)
        for (int i = 0; i < m.stages[stage].blocks; ++i)
            network.block("stage " + std::to_string(stage + 1) + " inverted residual", BlockRole::layer, [&](Layers& l, Image x) {
                return inverted_residual(l, x, m.stages[stage], i == 0 ? m.stages[stage].stride : 1, m);
            });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.activation(l.norm("bn", l.conv("conv", x, {.out_channels = 1280})), m.activation);
        return l.classifier(l.dropout(l.global_pool(x)), classes);
    });
}

}  // namespace

std::vector<Architecture> mobile_architectures() {
    const std::vector<MobileNetwork> networks{
        {{"mobilenet_v2", "mobilenetv2_100"},
         PointwiseKind::relu6,
         false,
         {{1, 3, 16, 1, 1}, {6, 3, 24, 2, 2}, {6, 3, 32, 3, 2}, {6, 3, 64, 4, 2}, {6, 3, 96, 3, 1}, {6, 3, 160, 3, 2}, {6, 3, 320, 1, 1}}},
        {{"efficientnet_b0"},
         PointwiseKind::silu,
         true,
         {{1, 3, 16, 1, 1}, {6, 3, 24, 2, 2}, {6, 5, 40, 2, 2}, {6, 3, 80, 3, 2}, {6, 5, 112, 3, 1}, {6, 5, 192, 4, 2}, {6, 3, 320, 1, 1}}},
    };
    std::vector<Architecture> all;
    all.reserve(std::size(networks));
    for (const MobileNetwork& m : networks)
        all.push_back({m.names, [m](NetworkBuilder& n, std::int64_t classes) { build_mobile(n, m, classes); }});
    return all;
}

}  // namespace sextant
