// MobileNetV2 (Sandler et al., arXiv 1801.04381, table 2), MnasNet (Tan et al., arXiv 1807.11626, figure 7), MobileNetV3 (Howard et al.,
// arXiv 1905.02244, tables 1 and 2), EfficientNet (Tan and Le, arXiv 1905.11946) and EfficientNetV2 (arXiv 2104.00298): inverted residuals,
// that is expand by a 1x1, filter each channel by itself, project by a 1x1 without an activation. And MobileNetV1 (Howard et al., arXiv
// 1704.04861, table 1), which filters each channel by itself too, but has no residuals.
#include "model/workload/convolutional_families.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace sextant {
namespace {

struct InvertedResidual {
    std::string name;  // of its block
    std::int64_t wide, kernel, channels, stride;
    std::int64_t squeezed;  // numbers that squeeze and excitation goes by; 0: none
    PointwiseKind activation;
    bool fused = false;  // one convolution over all channels expands and filters (arXiv 2104.00298, section 3.2)
};

struct MobileNetwork {
    std::int64_t stem_channels;
    std::vector<InvertedResidual> residuals;
    std::int64_t head_channels, hidden;  // of the head's convolution, and of a linear layer behind it; 0: none
    PointwiseKind activation;            // of stem and head
    PointwiseKind squeeze_activation = PointwiseKind::silu;
};

Image unit(Layers& l, const std::string& name, Image x, ConvLayer c, PointwiseKind activation) {
    return l.activation(l.norm(name + ".bn", l.conv(name, x, c)), activation);
}

Image inverted_residual(Layers& l, Image x, const InvertedResidual& r, PointwiseKind squeeze_activation) {
    const bool expands = r.wide != x.channels;
    Image y = x;
    if (r.fused) {
        y = unit(l, "expand", y, {.out_channels = r.wide, .kernel = r.kernel, .stride = r.stride}, r.activation);
    } else {
        if (expands) y = unit(l, "expand", y, {.out_channels = r.wide}, r.activation);
        y = unit(l, "depthwise", y, {.out_channels = r.wide, .kernel = r.kernel, .stride = r.stride, .groups = r.wide}, r.activation);
    }
    if (r.squeezed > 0) y = l.squeeze_excite(y, r.squeezed, squeeze_activation);
    if (expands || !r.fused) y = l.norm("project.bn", l.conv("project", y, {.out_channels = r.channels}));
    return r.stride == 1 && x.channels == r.channels ? l.add("add", y, x) : y;
}

void build_mobile(NetworkBuilder& network, const MobileNetwork& m, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return unit(l, "conv", x, {.out_channels = m.stem_channels, .kernel = 3, .stride = 2}, m.activation);
    });
    for (const InvertedResidual& r : m.residuals)
        network.block(r.name, BlockRole::layer, [&](Layers& l, Image x) { return inverted_residual(l, x, r, m.squeeze_activation); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.global_pool(unit(l, "conv", x, {.out_channels = m.head_channels}, m.activation));
        if (m.hidden > 0) x = l.activation(l.linear("hidden", x, m.hidden), m.activation);
        return l.classifier(l.dropout(x), classes);
    });
}

// To a multiple of 8, at most a tenth down, as the authors of MobileNet round.
std::int64_t rounded_channels(double channels) {
    const std::int64_t near = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
    return static_cast<double>(near) < 0.9 * channels ? near + 8 : near;
}

// ---- MobileNetV2, MnasNet and EfficientNet: one network of stages, made wider and deeper

struct MobileStage {
    std::int64_t expansion, kernel, channels;
    int blocks;
    std::int64_t stride;  // of the first block
    bool fused = false;
};

struct MobileFamily {
    PointwiseKind activation;
    bool squeezes;  // to a quarter of the block's input, where filters are not fused
    std::vector<MobileStage> stages;
    std::int64_t stem_channels = 32;
    bool head_grows = true;  // with the width, where that is more than one
};

// Compound scaling (arXiv 1905.11946, section 3.3), and width multipliers (arXiv 1801.04381, section 6.1.1).
struct MobileScale {
    std::vector<std::string> names;
    double width, depth;
    std::int64_t image_px = 224;
    bool ends_stay = false;  // stem and head have no other width, first and last stage no other depth
};

MobileNetwork scaled(const MobileFamily& f, const MobileScale& s) {
    const std::int64_t stem = f.stem_channels, head = 1280;
    const auto wider = [&](std::int64_t channels) { return rounded_channels(static_cast<double>(channels) * s.width); };
    MobileNetwork m{.stem_channels = s.ends_stay ? stem : wider(stem),
                    .residuals = {},
                    .head_channels = s.ends_stay || !f.head_grows ? head : std::max(head, wider(head)),
                    .hidden = 0,
                    .activation = f.activation};
    std::int64_t in = m.stem_channels;
    for (std::size_t i = 0; i < f.stages.size(); ++i) {
        const MobileStage& stage = f.stages[i];
        const bool end = i == 0 || i + 1 == f.stages.size();
        const int blocks = s.ends_stay && end ? stage.blocks : static_cast<int>(std::ceil(stage.blocks * s.depth));
        for (int block = 0; block < blocks; ++block) {
            m.residuals.push_back({.name = "stage " + std::to_string(i + 1) + " inverted residual",
                                   .wide = in * stage.expansion,
                                   .kernel = stage.kernel,
                                   .channels = wider(stage.channels),
                                   .stride = block == 0 ? stage.stride : 1,
                                   .squeezed = f.squeezes && !stage.fused ? in / 4 : 0,
                                   .activation = f.activation,
                                   .fused = stage.fused});
            in = m.residuals.back().channels;
        }
    }
    return m;
}

// ---- MobileNetV3: residuals that a search found one by one

struct FoundResidual {
    std::int64_t kernel, wide, channels;
    bool squeezes;  // to a quarter of the wide channels
    bool swish;     // ReLU where not
    std::int64_t stride;
};

constexpr FoundResidual mobilenet_v3_large[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1}, {5, 72, 40, true, false, 2},
    {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1}, {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1},
};
constexpr FoundResidual mobilenet_v3_small[] = {
    {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1}, {5, 96, 40, true, true, 2},
    {5, 240, 40, true, true, 1}, {5, 240, 40, true, true, 1},  {5, 120, 48, true, true, 1},  {5, 144, 48, true, true, 1},
    {5, 288, 96, true, true, 2}, {5, 576, 96, true, true, 1},  {5, 576, 96, true, true, 1},
};

MobileNetwork mobilenet_v3(std::span<const FoundResidual> found, std::int64_t hidden) {
    // The paper's are swish and sigmoid by pieces (section 5.2): they read, write and keep what those do.
    constexpr PointwiseKind relu = PointwiseKind::relu, hard_swish = PointwiseKind::silu;
    MobileNetwork m{.stem_channels = 16,
                    .residuals = {},
                    .head_channels = 6 * found.back().channels,
                    .hidden = hidden,
                    .activation = hard_swish,
                    .squeeze_activation = relu};
    for (const FoundResidual& r : found)
        m.residuals.push_back({.name = "inverted residual of " + std::to_string(r.wide) + " to " + std::to_string(r.channels),
                               .wide = r.wide,
                               .kernel = r.kernel,
                               .channels = r.channels,
                               .stride = r.stride,
                               .squeezed = r.squeezes ? rounded_channels(static_cast<double>(r.wide) / 4) : 0,
                               .activation = r.swish ? hard_swish : relu});
    return m;
}

// ---- MobileNetV1

void build_mobilenet_v1(NetworkBuilder& network, std::int64_t classes) {
    struct Separable {
        std::int64_t channels, stride;
    };
    constexpr Separable layers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                                    {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    constexpr PointwiseKind relu = PointwiseKind::relu;
    network.block("stem", BlockRole::input,
                  [](Layers& l, Image x) { return unit(l, "conv", x, {.out_channels = 32, .kernel = 3, .stride = 2}, relu); });
    for (const Separable& s : layers)
        network.block("separable to " + std::to_string(s.channels), BlockRole::layer, [&](Layers& l, Image x) {
            x = unit(l, "depthwise", x, {.out_channels = x.channels, .kernel = 3, .stride = s.stride, .groups = x.channels}, relu);
            return unit(l, "pointwise", x, {.out_channels = s.channels}, relu);
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.dropout(l.global_pool(x)), classes); });
}

}  // namespace

std::vector<Architecture> mobile_architectures() {
    std::vector<Architecture> all;
    const auto add = [&](const MobileFamily& family, const std::vector<MobileScale>& scales) {
        for (const MobileScale& s : scales)
            all.push_back(
                {s.names, [=](NetworkBuilder& n, std::int64_t classes) { build_mobile(n, scaled(family, s), classes); }, s.image_px});
    };
    add({PointwiseKind::relu6,
         false,
         {{1, 3, 16, 1, 1}, {6, 3, 24, 2, 2}, {6, 3, 32, 3, 2}, {6, 3, 64, 4, 2}, {6, 3, 96, 3, 1}, {6, 3, 160, 3, 2}, {6, 3, 320, 1, 1}}},
        {{{"mobilenetv2_035"}, 0.35, 1},
         {{"mobilenetv2_050"}, 0.5, 1},
         {{"mobilenetv2_075"}, 0.75, 1},
         {{"mobilenet_v2", "mobilenetv2_100"}, 1, 1},
         {{"mobilenetv2_110d"}, 1.1, 1.2, 224, true},
         {{"mobilenetv2_120d"}, 1.2, 1.4, 224, true},
         {{"mobilenetv2_140"}, 1.4, 1}});
    add({PointwiseKind::relu,
         false,
         {{1, 3, 16, 1, 1}, {3, 3, 24, 3, 2}, {3, 5, 40, 3, 2}, {6, 5, 80, 3, 2}, {6, 3, 96, 2, 1}, {6, 5, 192, 4, 2}, {6, 3, 320, 1, 1}},
         32,
         false},
        {{{"mnasnet0_5", "mnasnet_050"}, 0.5, 1},
         {{"mnasnet0_75", "mnasnet_075"}, 0.75, 1},
         {{"mnasnet1_0", "mnasnet_100"}, 1, 1},
         {{"mnasnet1_3"}, 1.3, 1},
         {{"mnasnet_140"}, 1.4, 1}});
    const std::vector<MobileStage> efficientnet{{1, 3, 16, 1, 1},  {6, 3, 24, 2, 2},  {6, 5, 40, 2, 2}, {6, 3, 80, 3, 2},
                                                {6, 5, 112, 3, 1}, {6, 5, 192, 4, 2}, {6, 3, 320, 1, 1}};
    add({PointwiseKind::silu, true, efficientnet}, {{{"efficientnet_b0"}, 1, 1},
                                                    {{"efficientnet_b1"}, 1, 1.1, 240},
                                                    {{"efficientnet_b2"}, 1.1, 1.2, 260},
                                                    {{"efficientnet_b3"}, 1.2, 1.4, 300},
                                                    {{"efficientnet_b4"}, 1.4, 1.8, 380},
                                                    {{"efficientnet_b5"}, 1.6, 2.2, 456},
                                                    {{"efficientnet_b6"}, 1.8, 2.6, 528},
                                                    {{"efficientnet_b7"}, 2, 3.1, 600}});
    // For small devices: github.com/tensorflow/tpu, models/official/efficientnet/lite.
    add({PointwiseKind::relu6, false, efficientnet}, {{{"efficientnet_lite0"}, 1, 1, 224, true},
                                                      {{"efficientnet_lite1"}, 1, 1.1, 240, true},
                                                      {{"efficientnet_lite2"}, 1.1, 1.2, 260, true},
                                                      {{"efficientnet_lite3"}, 1.2, 1.4, 280, true},
                                                      {{"efficientnet_lite4"}, 1.4, 1.8, 300, true}});
    // Table 4 of arXiv 2104.00298, and the larger two of github.com/google/automl, efficientnetv2/effnetv2_configs.py. At the size they are
    // evaluated at: training begins with smaller images.
    add({PointwiseKind::silu,
         true,
         {{1, 3, 24, 2, 1, true}, {4, 3, 48, 4, 2, true}, {4, 3, 64, 4, 2, true}, {4, 3, 128, 6, 2}, {6, 3, 160, 9, 1}, {6, 3, 256, 15, 2}},
         24},
        {{{"efficientnet_v2_s", "efficientnetv2_s"}, 1, 1, 384}});
    add({PointwiseKind::silu,
         true,
         {{1, 3, 24, 3, 1, true},
          {4, 3, 48, 5, 2, true},
          {4, 3, 80, 5, 2, true},
          {4, 3, 160, 7, 2},
          {6, 3, 176, 14, 1},
          {6, 3, 304, 18, 2},
          {6, 3, 512, 5, 1}},
         24},
        {{{"efficientnet_v2_m", "efficientnetv2_m"}, 1, 1, 480}});
    add({PointwiseKind::silu,
         true,
         {{1, 3, 32, 4, 1, true},
          {4, 3, 64, 7, 2, true},
          {4, 3, 96, 7, 2, true},
          {4, 3, 192, 10, 2},
          {6, 3, 224, 19, 1},
          {6, 3, 384, 25, 2},
          {6, 3, 640, 7, 1}},
         32},
        {{{"efficientnet_v2_l", "efficientnetv2_l"}, 1, 1, 480}});
    all.push_back({{"mobilenet_v1", "mobilenetv1_100"}, build_mobilenet_v1});
    all.push_back({{"mobilenetv3_large_100", "mobilenet_v3_large"},
                   [](NetworkBuilder& n, std::int64_t classes) { build_mobile(n, mobilenet_v3(mobilenet_v3_large, 1280), classes); }});
    all.push_back({{"mobilenetv3_small_100", "mobilenet_v3_small"},
                   [](NetworkBuilder& n, std::int64_t classes) { build_mobile(n, mobilenet_v3(mobilenet_v3_small, 1024), classes); }});
    return all;
}

}  // namespace sextant
