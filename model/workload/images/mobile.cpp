// MobileNetV2 (Sandler et al., arXiv 1801.04381, table 2), MnasNet (Tan et al., arXiv 1807.11626, figure 7), FBNet (Wu et al., arXiv
// 1812.03443), Single-Path NAS (Stamoulis et al., arXiv 1904.02877), MobileNetV3 (Howard et al., arXiv 1905.02244, tables 1 and 2),
// EfficientNet (Tan and Le, arXiv 1905.11946), TinyNet (Han et al., arXiv 2010.14819) and EfficientNetV2 (arXiv 2104.00298): inverted
// residuals, that is expand by a 1x1, filter each channel by itself, project by a 1x1 without an activation. And MobileNetV1 (Howard et
// al., arXiv 1704.04861, table 1), which filters each channel by itself too, but has no residuals.
#include "model/workload/images/mobile.hpp"

#include "model/workload/images/families.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace sextant {
namespace {

// Written over what it reads, in torchvision as in timm.
Image activate(Layers& l, Image x, PointwiseKind function) { return l.activation(x, function, true); }

Image unit(Layers& l, const std::string& name, Image x, ConvLayer c, PointwiseKind activation) {
    return activate(l, l.conv_norm(name, x, c), activation);
}

// As even as can be, the first with what is left over.
std::vector<std::int64_t> split(std::int64_t channels, std::size_t parts) {
    const auto n = static_cast<std::int64_t>(parts);
    std::vector<std::int64_t> sizes(parts, channels / n);
    sizes.front() += channels % n;
    return sizes;
}

// A kernel for each part of the channels, where there are several (arXiv 1907.09595).
Image mixed_conv(Layers& l, const std::string& name, Image x, ConvLayer c, const std::vector<std::int64_t>& kernels) {
    const bool depthwise = c.groups > 1;
    const std::vector<std::int64_t> out = split(c.out_channels, kernels.size());
    std::vector<Image> parts = kernels.size() == 1 ? std::vector{x} : l.parts(x, split(x.channels, kernels.size()));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        c.kernel = kernels[i];
        c.out_channels = out[i];
        if (depthwise) c.groups = parts[i].channels;
        parts[i] = l.conv(kernels.size() == 1 ? name : name + std::to_string(c.kernel), parts[i], c);
    }
    return kernels.size() == 1 ? parts.front() : l.concatenate(parts);
}

// Where averages or blurs take the stride.
Image reduce(Layers& l, Image x, std::int64_t stride, Reduction by) {
    if (stride == 1 || by == Reduction::strides) return x;
    if (by == Reduction::blurs) return l.blur("blur", x, stride);
    return l.pool("average", x, {.kind = PoolingKind::average, .kernel = stride, .stride = stride});
}

Image inverted_residual(Layers& l, Image x, const InvertedResidual& r, const MobileNetwork& m) {
    const bool filters = r.filters == Filters::depthwise && r.kernel > 0;
    const std::int64_t stride = m.reduction == Reduction::strides ? r.stride : 1;
    Image y = x;
    if (r.first_kernel > 0) {
        const std::int64_t own = filters ? 1 : stride;
        y = l.conv_norm("first", y, {.out_channels = y.channels, .kernel = r.first_kernel, .stride = own, .groups = y.channels});
        if (!filters) y = reduce(l, y, r.stride, m.reduction);
    }
    const auto parts = [](int n) { return std::vector<std::int64_t>(static_cast<std::size_t>(n), 1); };
    if (r.filters != Filters::depthwise) {
        y = unit(l, "expand", y, {.out_channels = r.wide, .kernel = r.kernel, .stride = stride}, r.activation);
        y = reduce(l, y, r.stride, m.reduction);
    } else if (r.always_expands || r.wide != x.channels) {
        y = activate(l, l.norm("expand.bn", mixed_conv(l, "expand", y, {.out_channels = r.wide}, parts(r.expand_parts))), r.activation);
    }
    if (filters) {
        const std::vector<std::int64_t> kernels = r.mixed.empty() ? std::vector{r.kernel} : r.mixed;
        const ConvLayer depthwise{.out_channels = r.wide, .stride = stride, .groups = r.wide};
        y = activate(l, l.norm("depthwise.bn", mixed_conv(l, "depthwise", y, depthwise, kernels)), r.activation);
        y = reduce(l, y, r.stride, m.reduction);
    }
    if (r.squeezed > 0) y = l.squeeze_excite(y, r.squeezed, m.squeeze_activation);
    if (r.filters != Filters::all)
        y = l.norm("project.bn", mixed_conv(l, "project", y, {.out_channels = r.channels}, parts(r.project_parts)));
    if (r.activates) y = activate(l, y, r.activation);
    return r.adds && r.stride == 1 && x.channels == r.channels ? l.add("add", y, x) : y;
}

Image mobile_head(Layers& l, Image x, const MobileNetwork& m) {
    if (m.head_channels > 0) x = unit(l, "conv", x, {.out_channels = m.head_channels}, m.activation);
    x = l.global_pool(x);
    if (m.hidden == 0) return x;
    x = l.linear("hidden", x, m.hidden, m.hidden_form == Hidden::biased);
    if (m.hidden_form == Hidden::normed) x = l.norm("hidden.bn", x);
    return activate(l, x, m.activation);
}

}  // namespace

// Residuals that begin by parting channels belong to the block before: a kernel that a compiler fuses may join that to the addition.
void build_mobile(NetworkBuilder& network, const MobileNetwork& m, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return unit(l, "conv", x, {.out_channels = m.stem_channels, .kernel = 3, .stride = 2}, m.activation);
    });
    for (std::size_t first = 0; first < m.residuals.size();) {
        std::string name = m.residuals[first].name;
        std::size_t end = first + 1;
        for (; end < m.residuals.size() && m.residuals[end].expand_parts > 1; ++end) name += ", " + m.residuals[end].name;
        network.block(name, BlockRole::layer, [&](Layers& l, Image x) {
            for (std::size_t i = first; i < end; ++i) x = inverted_residual(l, x, m.residuals[i], m);
            return x;
        });
        first = end;
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.dropout(mobile_head(l, x, m)), classes); });
}

std::int64_t nearest_channels(double channels) { return std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8); }

std::int64_t rounded_channels(double channels, double at_least) {
    const std::int64_t near = nearest_channels(channels);
    return static_cast<double>(near) < at_least * channels ? near + 8 : near;
}

namespace {

// ---- MobileNetV2, MnasNet, EfficientNet and their like: one network of stages, made wider and deeper

struct MobileStage {
    std::int64_t expansion, kernel, channels;
    int blocks;
    std::int64_t stride;    // of the first block
    bool squeezes = false;  // to a quarter of what the block reads
    Filters filters = Filters::depthwise;
    bool of_edge = false;    // the first of EfficientNet-EdgeTPU: it expands by so much of what it makes, and adds nothing
    bool activates = false;  // what it projected, and adds nothing (MobileNetV1)
};

enum class HeadWidth { stays, grows, scales };  // with the width; grows: where that is more than one

struct MobileFamily {
    PointwiseKind activation;
    std::vector<MobileStage> stages;
    std::int64_t stem_channels = 32, head_channels = 1280;
    HeadWidth head = HeadWidth::grows;
    bool always_expands = false;
};

enum class Scaling {
    compound,   // arXiv 1905.11946, section 3.3, and width multipliers (arXiv 1801.04381, section 6.1.1)
    ends_stay,  // stem and head have no other width, first and last stage no other depth
    nearest,    // channels are rounded to the nearest multiple of 8, however far down
    tiny,       // the stem has no other width, depths are rounded to the nearest (TinyNet)
};

struct MobileScale {
    std::vector<std::string> names;
    double width, depth;
    std::int64_t image_px = 224;
    Scaling scaling = Scaling::compound;
};

int scaled_blocks(int blocks, bool at_an_end, const MobileScale& s) {
    if (s.scaling == Scaling::ends_stay && at_an_end) return blocks;
    if (s.scaling == Scaling::tiny) return std::max(1, static_cast<int>(std::lrint(blocks * s.depth)));
    return static_cast<int>(std::ceil(blocks * s.depth));
}

MobileNetwork scaled(const MobileFamily& f, const MobileScale& s) {
    const bool ends_stay = s.scaling == Scaling::ends_stay;
    const auto wider = [&](std::int64_t channels) {
        const double wanted = static_cast<double>(channels) * s.width;
        return s.scaling == Scaling::nearest ? nearest_channels(wanted) : rounded_channels(wanted);
    };
    const std::int64_t least = f.head == HeadWidth::grows ? f.head_channels : 0;
    const bool same_head = ends_stay || f.head == HeadWidth::stays;
    const std::int64_t head_channels = same_head ? f.head_channels : std::max(least, wider(f.head_channels));
    MobileNetwork m{.stem_channels = ends_stay || s.scaling == Scaling::tiny ? f.stem_channels : wider(f.stem_channels),
                    .head_channels = head_channels,
                    .activation = f.activation,
                    .squeeze_activation = f.activation};
    std::int64_t in = m.stem_channels;
    for (std::size_t i = 0; i < f.stages.size(); ++i) {
        const MobileStage& stage = f.stages[i];
        const int blocks = scaled_blocks(stage.blocks, i == 0 || i + 1 == f.stages.size(), s);
        for (int block = 0; block < blocks; ++block) {
            const std::int64_t channels = wider(stage.channels);
            const bool widens_output = stage.of_edge || stage.filters == Filters::all;
            m.residuals.push_back({.name = "stage " + std::to_string(i + 1) + " inverted residual",
                                   .wide = (widens_output ? channels : in) * stage.expansion,
                                   .kernel = stage.kernel,
                                   .channels = channels,
                                   .stride = block == 0 ? stage.stride : 1,
                                   .squeezed = stage.squeezes ? in / 4 : 0,
                                   .activation = f.activation,
                                   .filters = stage.filters,
                                   .adds = !stage.of_edge && !stage.activates,
                                   .always_expands = f.always_expands,
                                   .activates = stage.activates});
            in = channels;
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

// Each is as much wider than what it reads as the one that was found.
MobileNetwork mobilenet_v3(std::span<const FoundResidual> found, std::int64_t hidden, double width) {
    // The paper's are swish and sigmoid by pieces (section 5.2): they read, write and keep what those do.
    constexpr PointwiseKind relu = PointwiseKind::relu, hard_swish = PointwiseKind::silu;
    const auto wider = [&](std::int64_t channels) { return rounded_channels(static_cast<double>(channels) * width); };
    MobileNetwork m{.stem_channels = 16,
                    .head_channels = 6 * wider(found.back().channels),
                    .hidden = hidden,
                    .activation = hard_swish,
                    .squeeze_activation = relu};
    std::int64_t in = m.stem_channels, found_in = in;
    for (const FoundResidual& r : found) {
        const std::int64_t wide = rounded_channels(static_cast<double>(in * r.wide) / static_cast<double>(found_in));
        const std::int64_t channels = wider(r.channels);
        m.residuals.push_back({.name = "inverted residual of " + std::to_string(wide) + " to " + std::to_string(channels),
                               .wide = wide,
                               .kernel = r.kernel,
                               .channels = channels,
                               .stride = r.stride,
                               .squeezed = r.squeezes ? rounded_channels(static_cast<double>(wide) / 4) : 0,
                               .activation = r.swish ? hard_swish : relu});
        in = channels;
        found_in = r.channels;
    }
    return m;
}

}  // namespace

std::vector<Architecture> mobile_architectures() {
    std::vector<Architecture> all;
    const auto add = [&](const MobileFamily& family, const std::vector<MobileScale>& scales) {
        for (const MobileScale& s : scales)
            all.push_back(
                {s.names, [=](NetworkBuilder& n, std::int64_t classes) { build_mobile(n, scaled(family, s), classes); }, s.image_px});
    };
    constexpr bool squeezing = true, plain = false;
    constexpr Filters fused = Filters::fused, full = Filters::all, depthwise = Filters::depthwise;
    add({PointwiseKind::relu6,
         {{1, 3, 16, 1, 1}, {6, 3, 24, 2, 2}, {6, 3, 32, 3, 2}, {6, 3, 64, 4, 2}, {6, 3, 96, 3, 1}, {6, 3, 160, 3, 2}, {6, 3, 320, 1, 1}}},
        {{{"mobilenetv2_035"}, 0.35, 1},
         {{"mobilenetv2_050"}, 0.5, 1},
         {{"mobilenetv2_075"}, 0.75, 1},
         {{"mobilenet_v2", "mobilenetv2_100"}, 1, 1},
         {{"mobilenetv2_110d"}, 1.1, 1.2, 224, Scaling::ends_stay},
         {{"mobilenetv2_120d"}, 1.2, 1.4, 224, Scaling::ends_stay},
         {{"mobilenetv2_140"}, 1.4, 1}});
    add({PointwiseKind::relu,
         {{1, 3, 16, 1, 1}, {3, 3, 24, 3, 2}, {3, 5, 40, 3, 2}, {6, 5, 80, 3, 2}, {6, 3, 96, 2, 1}, {6, 5, 192, 4, 2}, {6, 3, 320, 1, 1}},
         32,
         1280,
         HeadWidth::stays},
        {{{"mnasnet0_5", "mnasnet_050"}, 0.5, 1},
         {{"mnasnet0_75", "mnasnet_075"}, 0.75, 1},
         {{"mnasnet1_0", "mnasnet_100"}, 1, 1},
         {{"mnasnet1_3"}, 1.3, 1},
         {{"mnasnet_140"}, 1.4, 1}});
    add({PointwiseKind::relu,
         {{1, 3, 16, 1, 1},
          {6, 3, 24, 2, 2},
          {3, 5, 40, 3, 2, squeezing},
          {6, 3, 80, 4, 2},
          {6, 3, 112, 2, 1, squeezing},
          {6, 5, 160, 3, 2, squeezing},
          {6, 3, 320, 1, 1}},
         32,
         1280,
         HeadWidth::stays},
        {{{"semnasnet_050"}, 0.5, 1}, {{"semnasnet_075"}, 0.75, 1}, {{"semnasnet_100", "mnasnet_a1"}, 1, 1}, {{"semnasnet_140"}, 1.4, 1}});
    add({PointwiseKind::relu,
         {{1, 3, 8, 1, 1},
          {3, 3, 16, 1, 2},
          {6, 3, 16, 2, 2},
          {6, 5, 32, 4, 2, squeezing},
          {6, 3, 32, 3, 1, squeezing},
          {6, 5, 88, 3, 2, squeezing},
          {6, 3, 144, 1, 1}},
         8},
        {{{"mnasnet_small"}, 1, 1}});
    add({PointwiseKind::relu,
         {{1, 3, 16, 1, 1},
          {6, 3, 24, 1, 2},
          {1, 3, 24, 2, 1},
          {6, 5, 32, 1, 2},
          {3, 5, 32, 1, 1},
          {6, 5, 32, 1, 1},
          {6, 3, 32, 1, 1},
          {6, 5, 64, 1, 2},
          {3, 5, 64, 1, 1},
          {6, 5, 64, 2, 1},
          {6, 5, 112, 3, 1},
          {3, 5, 112, 1, 1},
          {6, 5, 184, 4, 2},
          {6, 3, 352, 1, 1}},
         16,
         1984,
         HeadWidth::grows,
         true},
        {{{"fbnetc_100"}, 1, 1}});
    add({PointwiseKind::relu,
         {{1, 3, 16, 1, 1},
          {3, 3, 24, 3, 2},
          {6, 5, 40, 1, 2},
          {3, 3, 40, 3, 1},
          {6, 5, 80, 1, 2},
          {3, 3, 80, 3, 1},
          {6, 5, 96, 1, 1},
          {3, 5, 96, 3, 1},
          {6, 5, 192, 4, 2},
          {6, 3, 320, 1, 1}}},
        {{{"spnasnet_100"}, 1, 1}});
    const std::vector<MobileStage> efficientnet_lite{{1, 3, 16, 1, 1},  {6, 3, 24, 2, 2},  {6, 5, 40, 2, 2}, {6, 3, 80, 3, 2},
                                                     {6, 5, 112, 3, 1}, {6, 5, 192, 4, 2}, {6, 3, 320, 1, 1}};
    std::vector<MobileStage> efficientnet = efficientnet_lite;
    for (MobileStage& stage : efficientnet) stage.squeezes = true;
    add({PointwiseKind::silu, efficientnet}, {{{"efficientnet_b0"}, 1, 1},
                                              {{"efficientnet_b1"}, 1, 1.1, 240},
                                              {{"efficientnet_b2"}, 1.1, 1.2, 260},
                                              {{"efficientnet_b3"}, 1.2, 1.4, 300},
                                              {{"efficientnet_b4"}, 1.4, 1.8, 380},
                                              {{"efficientnet_b5"}, 1.6, 2.2, 456},
                                              {{"efficientnet_b6"}, 1.8, 2.6, 528},
                                              {{"efficientnet_b7"}, 2, 3.1, 600},
                                              {{"efficientnet_b8"}, 2.2, 3.6, 672},
                                              {{"efficientnet_l2"}, 4.3, 5.3, 800},
                                              {{"tinynet_a"}, 1, 1.2, 192, Scaling::tiny},
                                              {{"tinynet_b"}, 0.75, 1.1, 188, Scaling::tiny},
                                              {{"tinynet_c"}, 0.54, 0.85, 184, Scaling::tiny},
                                              {{"tinynet_d"}, 0.54, 0.695, 152, Scaling::tiny},
                                              {{"tinynet_e"}, 0.51, 0.6, 106, Scaling::tiny}});
    // For small devices: github.com/tensorflow/tpu, models/official/efficientnet/lite ...
    add({PointwiseKind::relu6, efficientnet_lite}, {{{"efficientnet_lite0"}, 1, 1, 224, Scaling::ends_stay},
                                                    {{"efficientnet_lite1"}, 1, 1.1, 240, Scaling::ends_stay},
                                                    {{"efficientnet_lite2"}, 1.1, 1.2, 260, Scaling::ends_stay},
                                                    {{"efficientnet_lite3"}, 1.2, 1.4, 280, Scaling::ends_stay},
                                                    {{"efficientnet_lite4"}, 1.4, 1.8, 300, Scaling::ends_stay}});
    // ... and for one, in the folder edgetpu beside it.
    add({PointwiseKind::relu,
         {{4, 3, 24, 1, 1, plain, fused, true},
          {8, 3, 32, 2, 2, plain, fused},
          {8, 3, 48, 4, 2, plain, fused},
          {8, 5, 96, 5, 2},
          {8, 5, 144, 4, 1},
          {8, 5, 192, 2, 2}}},
        {{{"efficientnet_es"}, 1, 1}, {{"efficientnet_em"}, 1, 1.1, 240}, {{"efficientnet_el"}, 1.2, 1.4, 300}});
    // Table 4 of arXiv 2104.00298, and the larger two and those of B0 to B3 of github.com/google/automl,
    // efficientnetv2/effnetv2_configs.py. At the size they are evaluated at: training begins with smaller images.
    const std::vector<MobileStage> v2_s{{1, 3, 24, 2, 1, plain, full}, {4, 3, 48, 4, 2, plain, fused}, {4, 3, 64, 4, 2, plain, fused},
                                        {4, 3, 128, 6, 2, squeezing},  {6, 3, 160, 9, 1, squeezing},   {6, 3, 256, 15, 2, squeezing}};
    add({PointwiseKind::silu, v2_s, 24}, {{{"efficientnet_v2_s", "efficientnetv2_s"}, 1, 1, 384}});
    // timm's own, one of them from before the authors released theirs.
    add({PointwiseKind::silu, v2_s, 24, 1280, HeadWidth::scales}, {{{"efficientnetv2_rw_t"}, 0.8, 0.9}});
    const auto v2_rw = [&](const std::array<int, 6>& blocks) {
        std::vector<MobileStage> stages = v2_s;
        for (std::size_t i = 0; i < stages.size(); ++i) stages[i].blocks = blocks[i];
        stages.front().filters = fused;
        stages.back().channels = 272;
        return MobileFamily{PointwiseKind::silu, stages, 24, 1792, HeadWidth::scales};
    };
    add(v2_rw({2, 4, 4, 6, 9, 15}), {{{"efficientnetv2_rw_s"}, 1, 1, 288}});
    add(v2_rw({3, 5, 5, 8, 15, 24}), {{{"efficientnetv2_rw_m"}, 1.2, 1, 320}});
    add({PointwiseKind::silu,
         {{1, 3, 24, 3, 1, plain, full},
          {4, 3, 48, 5, 2, plain, fused},
          {4, 3, 80, 5, 2, plain, fused},
          {4, 3, 160, 7, 2, squeezing},
          {6, 3, 176, 14, 1, squeezing},
          {6, 3, 304, 18, 2, squeezing},
          {6, 3, 512, 5, 1, squeezing}},
         24},
        {{{"efficientnet_v2_m", "efficientnetv2_m"}, 1, 1, 480}});
    add({PointwiseKind::silu,
         {{1, 3, 32, 4, 1, plain, full},
          {4, 3, 64, 7, 2, plain, fused},
          {4, 3, 96, 7, 2, plain, fused},
          {4, 3, 192, 10, 2, squeezing},
          {6, 3, 224, 19, 1, squeezing},
          {6, 3, 384, 25, 2, squeezing},
          {6, 3, 640, 7, 1, squeezing}}},
        {{{"efficientnet_v2_l", "efficientnetv2_l"}, 1, 1, 480}});
    add({PointwiseKind::silu,
         {{1, 3, 32, 4, 1, plain, full},
          {4, 3, 64, 8, 2, plain, fused},
          {4, 3, 96, 8, 2, plain, fused},
          {4, 3, 192, 16, 2, squeezing},
          {6, 3, 256, 24, 1, squeezing},
          {6, 3, 512, 32, 2, squeezing},
          {6, 3, 640, 8, 1, squeezing}}},
        {{{"efficientnetv2_xl"}, 1, 1, 512}});
    add({PointwiseKind::silu,
         {{1, 3, 16, 1, 1, plain, full},
          {4, 3, 32, 2, 2, plain, fused},
          {4, 3, 48, 2, 2, plain, fused},
          {4, 3, 96, 3, 2, squeezing},
          {6, 3, 112, 5, 1, squeezing},
          {6, 3, 192, 8, 2, squeezing}}},
        {{{"efficientnetv2_b0"}, 1, 1, 224, Scaling::nearest},
         {{"efficientnetv2_b1"}, 1, 1.1, 240, Scaling::nearest},
         {{"efficientnetv2_b2"}, 1.1, 1.2, 260, Scaling::nearest},
         {{"efficientnetv2_b3"}, 1.2, 1.4, 300, Scaling::nearest}});
    const std::vector<MobileStage> v1{{1, 3, 64, 1, 1, plain, depthwise, false, true},
                                      {1, 3, 128, 2, 2, plain, depthwise, false, true},
                                      {1, 3, 256, 2, 2, plain, depthwise, false, true},
                                      {1, 3, 512, 6, 2, plain, depthwise, false, true},
                                      {1, 3, 1024, 2, 2, plain, depthwise, false, true}};
    add({PointwiseKind::relu, v1, 32, 0, HeadWidth::stays}, {{{"mobilenet_v1", "mobilenetv1_100"}, 1, 1}, {{"mobilenetv1_125"}, 1.25, 1}});
    add({PointwiseKind::relu, v1, 32, 1024}, {{{"mobilenetv1_100h"}, 1, 1}});
    const auto add_v3 = [&](std::vector<std::string> names, std::span<const FoundResidual> found, std::int64_t hidden, double width) {
        all.push_back({std::move(names),
                       [=](NetworkBuilder& n, std::int64_t classes) { build_mobile(n, mobilenet_v3(found, hidden, width), classes); }});
    };
    add_v3({"mobilenetv3_large_075"}, mobilenet_v3_large, 1280, 0.75);
    add_v3({"mobilenetv3_large_100", "mobilenet_v3_large"}, mobilenet_v3_large, 1280, 1);
    add_v3({"mobilenetv3_small_050"}, mobilenet_v3_small, 1024, 0.5);
    add_v3({"mobilenetv3_small_075"}, mobilenet_v3_small, 1024, 0.75);
    add_v3({"mobilenetv3_small_100", "mobilenet_v3_small"}, mobilenet_v3_small, 1024, 1);
    return all;
}

}  // namespace sextant
