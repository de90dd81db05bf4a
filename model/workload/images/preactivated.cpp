// Residual networks that activate in front of their convolutions. ResNet v2 (He et al., arXiv 1603.05027, figure 4 e) normalizes there,
// too; BiT (Kolesnikov et al., arXiv 1912.11370) over groups of channels, and its filters; NFNets (Brock et al., arXiv 2102.06171)
// normalize nothing but filters, as timm has them.
#include "model/workload/images/families.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sextant {
namespace {

struct PreactivatedNetwork {
    std::vector<std::string> names;
    std::array<int, 4> blocks{};
    bool bottleneck = true;
    std::int64_t width = 1;
    std::vector<std::int64_t> stem{};  // channels of its convolutions of 3x3; none: one of 7x7
    bool pools_shortcuts = false;      // before they widen
    NormKind norm = NormKind::batch;   // or over groups, of which there are 32
    bool standardizes = false;
    std::int64_t image_px = 224;
};

Image norm_relu(Layers& l, const std::string& name, Image x, const PreactivatedNetwork& p) { return l.relu(l.norm(name, x, p.norm, 32)); }

Image filtered(Layers& l, const std::string& name, Image x, const ConvLayer& c, bool standardizes) {
    return standardizes ? l.standardized_conv(name, x, c) : l.conv(name, x, c);
}

Image pooled_shortcut(Layers& l, Image x, std::int64_t& stride) {
    if (stride == 1) return x;
    const std::int64_t by = std::exchange(stride, 1);
    return l.pool("downsample.pool", x, {.kind = PoolingKind::average, .kernel = by, .stride = by, .round_up = true});
}

Image preactivated_block(Layers& l, Image x, std::int64_t channels, std::int64_t stride, const PreactivatedNetwork& p) {
    const auto conv = [&](const std::string& name, Image in, const ConvLayer& c) { return filtered(l, name, in, c, p.standardizes); };
    const std::int64_t out = p.bottleneck ? 4 * channels : channels;
    Image y = norm_relu(l, "bn1", x, p);
    Image beside = x;
    if (x.channels != out) {
        std::int64_t by = stride;
        beside = p.pools_shortcuts ? pooled_shortcut(l, y, by) : y;
        beside = conv("downsample", beside, {.out_channels = out, .stride = by});
    }
    if (p.bottleneck) y = norm_relu(l, "bn2", conv("conv1", y, {.out_channels = channels}), p);
    y = conv("conv2", y, {.out_channels = channels, .kernel = 3, .stride = stride});
    y = conv("conv3", norm_relu(l, "bn3", y, p), {.out_channels = out, .kernel = p.bottleneck ? 1 : 3});
    return l.add("add", y, beside);
}

Image preactivated_stem(Layers& l, Image x, const PreactivatedNetwork& p) {
    for (std::size_t i = 0; i < p.stem.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        if (i > 0) x = norm_relu(l, "bn" + std::to_string(i), x, p);
        x = filtered(l, "conv" + number, x, {.out_channels = p.stem[i], .kernel = 3, .stride = i == 0 ? 2 : 1}, p.standardizes);
    }
    if (p.stem.empty()) x = filtered(l, "conv", x, {.out_channels = 64 * p.width, .kernel = 7, .stride = 2}, p.standardizes);
    if (!p.standardizes) return l.pool("pool", x, {.kernel = 3, .stride = 2, .padding = 1});
    return l.pool("pool", l.pad("pool.pad", x, 1), {.kernel = 3, .stride = 2});
}

void build_preactivated(NetworkBuilder& network, const PreactivatedNetwork& p, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) { return preactivated_stem(l, x, p); });
    for (std::size_t stage = 0; stage < p.blocks.size(); ++stage)
        for (int i = 0; i < p.blocks[stage]; ++i)
            network.block(
                "stage " + std::to_string(stage + 1) + (p.bottleneck ? " bottleneck" : " basic block"), BlockRole::layer,
                [&](Layers& l, Image x) { return preactivated_block(l, x, 64 * p.width << stage, stage > 0 && i == 0 ? 2 : 1, p); });
    network.block("head", BlockRole::head,
                  [&](Layers& l, Image x) { return l.classifier(l.global_pool(norm_relu(l, "bn", x, p)), classes); });
}

// ---- NFNet

enum class Weighing { none, squeeze, neighbours };

struct NormFreeNetwork {
    const char* name;
    std::array<int, 4> blocks;
    std::array<std::int64_t, 4> channels{256, 512, 1536, 1536};
    std::vector<std::int64_t> stem{16, 32, 64, 128};  // of 3x3, the first and last with strides; none: one of 7x7, and a pooling
    std::int64_t group = 128;                         // channels of one
    double narrow = 0.5;                              // channels inside, over those that the block makes
    bool two = true;                                  // of 3x3
    Weighing weighing = Weighing::squeeze;
    std::int64_t squeeze = 2;
    PointwiseKind activation = PointwiseKind::gelu;
    std::int64_t head_channels = 3072;  // 0: no convolution
    bool as_deepmind = false;           // activations are scaled, and what each residual adds by a learned factor
    std::int64_t image_px = 224;
};

Image norm_free_conv(Layers& l, const std::string& name, Image x, ConvLayer c) {
    c.bias = true;
    return l.standardized_conv(name, x, c, true);
}

// What it takes from the deviation is given back here, where DeepMind's do; else by the filters behind it.
Image norm_free_activation(Layers& l, Image x, const NormFreeNetwork& n) {
    x = l.activation(x, n.activation);
    constexpr double of_gelu = 1.7015043497085571;
    return n.as_deepmind ? l.times(x, of_gelu) : x;
}

Image norm_free_block(Layers& l, Image x, std::int64_t channels, std::int64_t stride, const NormFreeNetwork& n) {
    const auto act = [&](Image y) { return norm_free_activation(l, y, n); };
    const std::int64_t inside = static_cast<std::int64_t>(static_cast<double>(channels) * n.narrow);
    const std::int64_t groups = n.group > 0 ? inside / n.group : 1;
    Image y = l.times(act(x), 1);
    Image beside = x;
    if (stride > 1 || x.channels != channels) {
        std::int64_t by = stride;
        beside = pooled_shortcut(l, y, by);
        beside = norm_free_conv(l, "downsample", beside, {.out_channels = channels});
    }
    y = act(norm_free_conv(l, "conv1", y, {.out_channels = inside}));
    y = act(norm_free_conv(l, "conv2", y, {.out_channels = inside, .kernel = 3, .stride = stride, .groups = groups}));
    if (n.two) y = act(norm_free_conv(l, "conv2b", y, {.out_channels = inside, .kernel = 3, .groups = groups}));
    y = norm_free_conv(l, "conv3", y, {.out_channels = channels});
    if (n.weighing == Weighing::squeeze) y = l.squeeze_excite(y, channels / n.squeeze, PointwiseKind::relu);
    if (n.weighing == Weighing::neighbours) y = l.weigh_by_neighbours(y);
    if (n.weighing != Weighing::none) y = l.times(y, 2);
    if (n.as_deepmind) y = l.scale_whole("gain", y);
    return l.add("add", l.times(y, 0.2), beside);
}

Image norm_free_stem(Layers& l, Image x, const NormFreeNetwork& n) {
    if (n.stem.empty()) x = norm_free_conv(l, "conv", x, {.out_channels = 64, .kernel = 7, .stride = 2});
    for (std::size_t i = 0; i < n.stem.size(); ++i) {
        if (i > 0) x = norm_free_activation(l, x, n);
        x = norm_free_conv(l, "conv" + std::to_string(i + 1), x,
                           {.out_channels = n.stem[i], .kernel = 3, .stride = i == 0 || i + 1 == n.stem.size() ? 2 : 1});
    }
    return !n.stem.empty() ? x : l.pool("pool", x, {.kernel = 3, .stride = 2, .padding = 1});
}

void build_norm_free(NetworkBuilder& network, const NormFreeNetwork& n, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) { return norm_free_stem(l, x, n); });
    for (std::size_t stage = 0; stage < n.blocks.size(); ++stage)
        for (int i = 0; i < n.blocks[stage]; ++i)
            network.block("stage " + std::to_string(stage + 1), BlockRole::layer,
                          [&](Layers& l, Image x) { return norm_free_block(l, x, n.channels[stage], stage > 0 && i == 0 ? 2 : 1, n); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        if (n.head_channels > 0) x = norm_free_conv(l, "conv", x, {.out_channels = n.head_channels});
        return l.classifier(l.global_pool(norm_free_activation(l, x, n)), classes);
    });
}

}  // namespace

std::vector<Architecture> preactivated_architectures() {
    constexpr std::array<int, 4> of_18{2, 2, 2, 2}, of_26 = of_18, of_34{3, 4, 6, 3}, of_50 = of_34, of_101{3, 4, 23, 3},
                                                    of_152{3, 8, 36, 3};
    const std::vector<std::int64_t> deep{32, 32, 64}, tiered{24, 32, 64};
    const auto bit = [](const char* name, const std::array<int, 4>& blocks, std::int64_t width, std::int64_t px) {
        return PreactivatedNetwork{
            .names = {name}, .blocks = blocks, .width = width, .norm = NormKind::group, .standardizes = true, .image_px = px};
    };
    std::vector<Architecture> all;
    for (const PreactivatedNetwork& p : {
             PreactivatedNetwork{.names = {"resnetv2_18", "resnet18_v2"}, .blocks = of_18, .bottleneck = false},
             {.names = {"resnetv2_34", "resnet34_v2"}, .blocks = of_34, .bottleneck = false},
             {.names = {"resnetv2_50", "resnet50_v2"}, .blocks = of_50},
             {.names = {"resnetv2_101", "resnet101_v2"}, .blocks = of_101},
             {.names = {"resnetv2_152", "resnet152_v2"}, .blocks = of_152},
             {.names = {"resnetv2_18d"}, .blocks = of_18, .bottleneck = false, .stem = deep, .pools_shortcuts = true},
             {.names = {"resnetv2_34d"}, .blocks = of_34, .bottleneck = false, .stem = deep, .pools_shortcuts = true},
             {.names = {"resnetv2_50d"}, .blocks = of_50, .stem = deep, .pools_shortcuts = true},
             {.names = {"resnetv2_50t"}, .blocks = of_50, .stem = tiered, .pools_shortcuts = true},
             {.names = {"resnetv2_101d"}, .blocks = of_101, .stem = deep, .pools_shortcuts = true},
             {.names = {"resnetv2_152d"}, .blocks = of_152, .stem = deep, .pools_shortcuts = true},
             {.names = {"resnetv2_50d_gn"}, .blocks = of_50, .stem = deep, .pools_shortcuts = true, .norm = NormKind::group},
             bit("resnetv2_50x1_bit", of_50, 1, 224),
             bit("resnetv2_50x3_bit", of_50, 3, 448),
             bit("resnetv2_101x1_bit", of_101, 1, 448),
             bit("resnetv2_101x3_bit", of_101, 3, 448),
             bit("resnetv2_152x2_bit", of_152, 2, 224),
             bit("resnetv2_152x4_bit", of_152, 4, 480),
         })
        all.push_back({p.names, [p](NetworkBuilder& n, std::int64_t classes) { build_preactivated(n, p, classes); }, p.image_px});

    const auto times = [](int n) { return std::array<int, 4>{n, 2 * n, 6 * n, 3 * n}; };
    const auto deepmind = [&](const char* name, int n, std::int64_t px) {
        return NormFreeNetwork{.name = name, .blocks = times(n), .as_deepmind = true, .image_px = px};
    };
    const auto plain = [&](const char* name, int n, std::int64_t px) {
        return NormFreeNetwork{.name = name, .blocks = times(n), .image_px = px};
    };
    const auto light = [&](const char* name, int n, Weighing weighing, std::int64_t head, std::int64_t px) {
        return NormFreeNetwork{.name = name,
                               .blocks = times(n),
                               .group = 64,
                               .narrow = 0.25,
                               .weighing = weighing,
                               .squeeze = 4,
                               .activation = PointwiseKind::silu,
                               .head_channels = head,
                               .image_px = px};
    };
    const auto resnet = [&](const char* name, const std::array<int, 4>& blocks, Weighing weighing, std::int64_t px = 224) {
        return NormFreeNetwork{.name = name,
                               .blocks = blocks,
                               .channels = {256, 512, 1024, 2048},
                               .stem = {},
                               .group = 0,
                               .narrow = 0.25,
                               .two = false,
                               .weighing = weighing,
                               .squeeze = 16,
                               .activation = PointwiseKind::relu,
                               .head_channels = 0,
                               .image_px = px};
    };
    constexpr Weighing none = Weighing::none, squeeze = Weighing::squeeze, neighbours = Weighing::neighbours;
    for (const NormFreeNetwork& n : {deepmind("dm_nfnet_f0", 1, 192),
                                     deepmind("dm_nfnet_f1", 2, 224),
                                     deepmind("dm_nfnet_f2", 3, 256),
                                     deepmind("dm_nfnet_f3", 4, 320),
                                     deepmind("dm_nfnet_f4", 5, 384),
                                     deepmind("dm_nfnet_f5", 6, 416),
                                     deepmind("dm_nfnet_f6", 7, 448),
                                     plain("nfnet_f0", 1, 192),
                                     plain("nfnet_f1", 2, 224),
                                     plain("nfnet_f2", 3, 256),
                                     plain("nfnet_f3", 4, 320),
                                     plain("nfnet_f4", 5, 384),
                                     plain("nfnet_f5", 6, 416),
                                     plain("nfnet_f6", 7, 448),
                                     plain("nfnet_f7", 8, 480),
                                     light("nfnet_l0", 1, squeeze, 2304, 224),
                                     light("eca_nfnet_l0", 1, neighbours, 2304, 224),
                                     light("eca_nfnet_l1", 2, neighbours, 3072, 256),
                                     light("eca_nfnet_l2", 3, neighbours, 3072, 320),
                                     light("eca_nfnet_l3", 4, neighbours, 3072, 352),
                                     resnet("nf_resnet26", of_26, none),
                                     resnet("nf_resnet50", of_50, none, 256),
                                     resnet("nf_resnet101", of_101, none),
                                     resnet("nf_seresnet26", of_26, squeeze),
                                     resnet("nf_seresnet50", of_50, squeeze),
                                     resnet("nf_seresnet101", of_101, squeeze),
                                     resnet("nf_ecaresnet26", of_26, neighbours),
                                     resnet("nf_ecaresnet50", of_50, neighbours),
                                     resnet("nf_ecaresnet101", of_101, neighbours)})
        all.push_back({{n.name}, [n](NetworkBuilder& b, std::int64_t classes) { build_norm_free(b, n, classes); }, n.image_px});
    return all;
}

}  // namespace sextant
