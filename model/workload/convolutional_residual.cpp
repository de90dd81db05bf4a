// ResNet (He et al., arXiv 1512.03385), Wide ResNet (arXiv 1605.07146), ResNeXt (arXiv 1611.05431), ResNet-D (arXiv 1812.01187, figure 2)
// and all of them with squeeze and excitation (arXiv 1709.01507, table 1); ResNet-RS (Bello et al., arXiv 2103.07579) is the last two.
// Bottlenecks put the stride into their 3x3 convolution ("v1.5"), as the trainings that people measure do. ResNet v2 (He et al., arXiv
// 1603.05027, figure 4 e) normalizes and activates in front of its convolutions.
#include "model/workload/convolutional_families.hpp"

#include <array>

namespace sextant {
namespace {

struct ResidualNetwork {
    std::vector<std::string> names;
    bool bottleneck;
    std::array<int, 4> blocks;  // per stage
    std::int64_t groups = 1, width_per_group = 64;
    std::int64_t squeeze = 0;   // squeeze and excitation by so much; 0: none
    bool tweaked = false;       // ResNet-D: a stem of 3x3 convolutions, and shortcuts that pool before they widen
    bool pools_in_stem = true;  // a convolution of stride 2 where not
    std::int64_t image_px = 224;
    bool preactivated = false;  // v2
    bool dilated = false;       // the last two stages have no strides
};

Image shortcut(Layers& l, Image x, Image y, std::int64_t stride, bool pooled) {
    if (x.channels == y.channels && stride == 1) return x;
    if (pooled && stride > 1) {
        x = l.pool("downsample.pool", x, {.kind = PoolingKind::average, .kernel = stride, .stride = stride, .round_up = true});
        stride = 1;
    }
    return l.norm("downsample.bn", l.conv("downsample", x, {.out_channels = y.channels, .stride = stride}));
}

Image basic_block(Layers& l, Image x, std::int64_t channels, std::int64_t stride, const ResidualNetwork& r) {
    Image y = l.relu(l.norm("bn1", l.conv("conv1", x, {.out_channels = channels, .kernel = 3, .stride = stride})));
    y = l.norm("bn2", l.conv("conv2", y, {.out_channels = channels, .kernel = 3}));
    return l.relu(l.add("add", y, shortcut(l, x, y, stride, r.tweaked)));
}

// `dilation`: of its 3x3.
Image bottleneck_block(Layers& l, Image x, std::int64_t channels, std::int64_t stride, std::int64_t dilation, const ResidualNetwork& r) {
    const std::int64_t width = channels * r.width_per_group / 64 * r.groups;
    Image y = l.relu(l.norm("bn1", l.conv("conv1", x, {.out_channels = width})));
    y = l.relu(l.norm(
        "bn2", l.conv("conv2", y, {.out_channels = width, .kernel = 3, .stride = stride, .groups = r.groups, .dilation = dilation})));
    y = l.norm("bn3", l.conv("conv3", y, {.out_channels = 4 * channels}));
    if (r.squeeze > 0) y = l.squeeze_excite(y, y.channels / r.squeeze, PointwiseKind::relu);
    return l.relu(l.add("add", y, shortcut(l, x, y, stride, r.tweaked)));
}

Image preactivated_block(Layers& l, Image x, std::int64_t channels, std::int64_t stride) {
    Image y = l.relu(l.norm("bn1", x));
    const Image beside = x.channels == 4 * channels ? x : l.conv("downsample", y, {.out_channels = 4 * channels, .stride = stride});
    y = l.relu(l.norm("bn2", l.conv("conv1", y, {.out_channels = channels})));
    y = l.relu(l.norm("bn3", l.conv("conv2", y, {.out_channels = channels, .kernel = 3, .stride = stride})));
    return l.add("add", l.conv("conv3", y, {.out_channels = 4 * channels}), beside);
}

void add_stem_and_stages(NetworkBuilder& network, const ResidualNetwork& r) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        if (r.tweaked) {
            x = l.relu(l.norm("bn1", l.conv("conv1", x, {.out_channels = 32, .kernel = 3, .stride = 2})));
            x = l.relu(l.norm("bn2", l.conv("conv2", x, {.out_channels = 32, .kernel = 3})));
            x = l.relu(l.norm("bn3", l.conv("conv3", x, {.out_channels = 64, .kernel = 3})));
        } else {
            x = l.conv("conv", x, {.out_channels = 64, .kernel = 7, .stride = 2});
            if (!r.preactivated) x = l.relu(l.norm("bn", x));
        }
        if (r.pools_in_stem) return l.pool("pool", x, {.kernel = 3, .stride = 2, .padding = 1});
        return l.relu(l.norm("bn4", l.conv("conv4", x, {.out_channels = 64, .kernel = 3, .stride = 2})));
    });
    std::int64_t dilation = 1;
    for (std::size_t stage = 0; stage < r.blocks.size(); ++stage)
        for (int i = 0; i < r.blocks[stage]; ++i) {
            const std::int64_t channels = 64LL << stage;
            const bool keeps_size = r.dilated && stage >= 2;
            const std::int64_t stride = stage > 0 && i == 0 && !keeps_size ? 2 : 1;
            network.block("stage " + std::to_string(stage + 1) + (r.bottleneck ? " bottleneck" : " basic block"), BlockRole::layer,
                          [&](Layers& l, Image x) {
                              if (r.preactivated) return preactivated_block(l, x, channels, stride);
                              return r.bottleneck ? bottleneck_block(l, x, channels, stride, dilation, r)
                                                  : basic_block(l, x, channels, stride, r);
                          });
            if (i == 0 && keeps_size) dilation *= 2;
        }
}

void build_residual(NetworkBuilder& network, const ResidualNetwork& r, std::int64_t classes) {
    add_stem_and_stages(network, r);
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        if (r.preactivated) x = l.relu(l.norm("bn", x));
        return l.classifier(l.global_pool(x), classes);
    });
}

}  // namespace

void add_dilated_resnet(NetworkBuilder& network, const std::array<int, 4>& blocks) {
    add_stem_and_stages(network, {.names = {}, .bottleneck = true, .blocks = blocks, .dilated = true});
}

std::vector<Architecture> residual_architectures() {
    const std::vector<ResidualNetwork> networks{
        {{"resnet18"}, false, {2, 2, 2, 2}},
        {{"resnet34"}, false, {3, 4, 6, 3}},
        {{"resnet26"}, true, {2, 2, 2, 2}},
        {{"resnet50", "resnet50_v1.5"}, true, {3, 4, 6, 3}},
        {{"resnet101"}, true, {3, 4, 23, 3}},
        {{"resnet152"}, true, {3, 8, 36, 3}},
        {{"resnet200"}, true, {3, 24, 36, 3}},
        {{"wide_resnet50_2"}, true, {3, 4, 6, 3}, 1, 128},
        {{"wide_resnet101_2"}, true, {3, 4, 23, 3}, 1, 128},
        {{"resnext50_32x4d"}, true, {3, 4, 6, 3}, 32, 4},
        {{"resnext101_32x4d"}, true, {3, 4, 23, 3}, 32, 4},
        {{"resnext101_32x8d"}, true, {3, 4, 23, 3}, 32, 8},
        {{"resnext101_64x4d"}, true, {3, 4, 23, 3}, 64, 4},
        {{"seresnet50"}, true, {3, 4, 6, 3}, 1, 64, 16},
        {{"seresnet101"}, true, {3, 4, 23, 3}, 1, 64, 16},
        {{"seresnet152"}, true, {3, 8, 36, 3}, 1, 64, 16},
        {{"seresnext50_32x4d"}, true, {3, 4, 6, 3}, 32, 4, 16},
        {{"seresnext101_32x4d"}, true, {3, 4, 23, 3}, 32, 4, 16},
        {{"resnet18d"}, false, {2, 2, 2, 2}, 1, 64, 0, true},
        {{"resnet34d"}, false, {3, 4, 6, 3}, 1, 64, 0, true},
        {{"resnet26d"}, true, {2, 2, 2, 2}, 1, 64, 0, true},
        {{"resnet50d"}, true, {3, 4, 6, 3}, 1, 64, 0, true},
        {{"resnet101d"}, true, {3, 4, 23, 3}, 1, 64, 0, true},
        {{"resnet152d"}, true, {3, 8, 36, 3}, 1, 64, 0, true},
        {{"resnet200d"}, true, {3, 24, 36, 3}, 1, 64, 0, true},
        // For images of the sizes of timm's weights.
        {{"resnetrs50"}, true, {3, 4, 6, 3}, 1, 64, 4, true, false, 160},
        {{"resnetrs101"}, true, {3, 4, 23, 3}, 1, 64, 4, true, false, 192},
        {{"resnetrs152"}, true, {3, 8, 36, 3}, 1, 64, 4, true, false, 256},
        {{"resnetrs200"}, true, {3, 24, 36, 3}, 1, 64, 4, true, false, 256},
        {{"resnetrs270"}, true, {4, 29, 53, 4}, 1, 64, 4, true, false, 256},
        {{"resnetrs350"}, true, {4, 36, 72, 4}, 1, 64, 4, true, false, 288},
        {{"resnetrs420"}, true, {4, 44, 87, 4}, 1, 64, 4, true, false, 320},
        {{"resnetv2_50", "resnet50_v2"}, true, {3, 4, 6, 3}, 1, 64, 0, false, true, 224, true},
        {{"resnetv2_101", "resnet101_v2"}, true, {3, 4, 23, 3}, 1, 64, 0, false, true, 224, true},
        {{"resnetv2_152", "resnet152_v2"}, true, {3, 8, 36, 3}, 1, 64, 0, false, true, 224, true},
    };
    std::vector<Architecture> all;
    all.reserve(std::size(networks));
    for (const ResidualNetwork& r : networks)
        all.push_back({r.names, [r](NetworkBuilder& n, std::int64_t classes) { build_residual(n, r, classes); }, r.image_px});
    return all;
}

}  // namespace sextant
