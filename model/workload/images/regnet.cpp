// RegNet (Radosavovic et al., arXiv 2003.13678): residual blocks whose widths grow along a line, in steps (section 3.3), with groups of one
// width; RegNetY with squeeze and excitation by a quarter of what the block reads. RegNetZ (Dollár et al., arXiv 2103.06877) widens inside
// its blocks and leaves what they make without an activation; RegNetV is timm's name of a RegNetY that normalizes and activates in front.
#include "model/workload/images/families.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace sextant {
namespace {

struct RegNet {
    const char* in_torchvision;  // its name there; null: it has none
    const char* in_timm;
    int depth;
    double first, slope, step;  // w_0, w_a, w_m: block j is w_0 + w_a j wide, as near as a power of w_m comes
    std::int64_t group_width;
};

// To a multiple of the width of a group: the nearest, of which torchvision takes one at most a tenth down.
enum class Rounding { nearest, at_most_a_tenth_down };

std::int64_t whole_groups(std::int64_t width, std::int64_t group, Rounding rounding) {
    if (rounding == Rounding::nearest) return group * std::llrint(static_cast<double>(width) / static_cast<double>(group));
    const std::int64_t near = std::max(group, (width + group / 2) / group * group);
    return 10 * near < 9 * width ? near + group : near;
}

std::vector<std::int64_t> widths_of(const RegNet& r, Rounding rounding) {
    std::vector<std::int64_t> widths;
    for (int j = 0; j < r.depth; ++j) {
        const double power = std::nearbyint(std::log((r.first + r.slope * j) / r.first) / std::log(r.step));
        const std::int64_t width = 8 * std::llrint(r.first * std::pow(r.step, power) / 8);
        widths.push_back(whole_groups(width, std::min(r.group_width, width), rounding));
    }
    return widths;
}

// What timm makes of RegNetY.
enum class RegNetForm { plain, z, v, v_with_averages };  // the last pools where shortcuts shrink

struct RegNetKind {
    bool squeezes = false;
    Rounding rounding = Rounding::nearest;
    RegNetForm form = RegNetForm::plain;
    std::int64_t head_channels = 0;  // of RegNetZ; 0: no convolution

    [[nodiscard]] PointwiseKind activation() const { return form == RegNetForm::plain ? PointwiseKind::relu : PointwiseKind::silu; }
    [[nodiscard]] bool activates_first() const { return form == RegNetForm::v || form == RegNetForm::v_with_averages; }
};

Image regnet_act(Layers& l, const std::string& norm, Image x, const RegNetKind& k) { return l.activation(l.norm(norm, x), k.activation()); }

Image regnet_squeeze(Layers& l, Image y, Image x, const RegNetKind& k) {
    return k.squeezes ? l.squeeze_excite(y, std::llrint(0.25 * static_cast<double>(x.channels)), k.activation()) : y;
}

Image regnet_block(Layers& l, Image x, std::int64_t width, std::int64_t group_width, std::int64_t stride, const RegNetKind& k) {
    const bool z = k.form == RegNetForm::z;
    const std::int64_t inside = z ? 4 * width : width, groups = inside / std::min(group_width, inside);
    Image y = regnet_act(l, "bn1", l.conv("conv1", x, {.out_channels = inside}), k);
    y = regnet_act(l, "bn2", l.conv("conv2", y, {.out_channels = inside, .kernel = 3, .stride = stride, .groups = groups}), k);
    y = regnet_squeeze(l, y, x, k);
    y = l.norm("bn3", l.conv("conv3", y, {.out_channels = width}));
    if (z) return stride > 1 || x.channels != width ? y : l.add("add", y, x);
    if (stride > 1) x = l.norm("downsample.bn", l.conv("downsample", x, {.out_channels = width, .stride = stride}));
    return l.activation(l.add("add", y, x), k.activation());
}

Image preactivated_regnet_block(Layers& l, Image x, std::int64_t width, std::int64_t group_width, std::int64_t stride,
                                const RegNetKind& k) {
    x = regnet_act(l, "bn1", x, k);
    Image y = regnet_act(l, "bn2", l.conv("conv1", x, {.out_channels = width}), k);
    y = l.conv("conv2", y, {.out_channels = width, .kernel = 3, .stride = stride, .groups = width / group_width});
    y = l.conv("conv3", regnet_act(l, "bn3", regnet_squeeze(l, y, x, k), k), {.out_channels = width});
    if (stride == 1) return l.add("add", y, x);
    if (k.form == RegNetForm::v) return l.add("add", y, l.conv("downsample", x, {.out_channels = width, .stride = stride}));
    x = l.pool("downsample.pool", x, {.kind = PoolingKind::average, .kernel = stride, .stride = stride, .round_up = true});
    return l.add("add", y, l.conv("downsample", x, {.out_channels = width}));
}

Image regnet_head(Layers& l, Image x, const RegNetKind& k) {
    if (k.head_channels > 0) return l.global_pool(regnet_act(l, "bn", l.conv("conv", x, {.out_channels = k.head_channels}), k));
    return l.global_pool(k.form == RegNetForm::plain ? x : l.activation(x, k.activation()));
}

void build_regnet(NetworkBuilder& network, const RegNet& r, const RegNetKind& k, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = l.conv("conv", x, {.out_channels = 32, .kernel = 3, .stride = 2});
        return k.activates_first() ? x : regnet_act(l, "bn", x, k);
    });
    std::int64_t before = 0;
    for (const std::int64_t width : widths_of(r, k.rounding)) {
        const std::int64_t stride = width == before ? 1 : 2;  // a stage begins where blocks become wider
        network.block("block of " + std::to_string(width), BlockRole::layer, [&](Layers& l, Image x) {
            const auto block = k.activates_first() ? preactivated_regnet_block : regnet_block;
            return block(l, x, width, r.group_width, stride, k);
        });
        before = width;
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(regnet_head(l, x, k), classes); });
}

}  // namespace

std::vector<Architecture> regnet_architectures() {
    // Appendix D.
    constexpr RegNet x[] = {
        {nullptr, "regnetx_002", 13, 24, 36.44, 2.49, 8},           {"regnet_x_400mf", "regnetx_004", 22, 24, 24.48, 2.54, 16},
        {nullptr, "regnetx_006", 16, 48, 36.97, 2.24, 24},          {"regnet_x_800mf", "regnetx_008", 16, 56, 35.73, 2.28, 16},
        {"regnet_x_1_6gf", "regnetx_016", 18, 80, 34.01, 2.25, 24}, {"regnet_x_3_2gf", "regnetx_032", 25, 88, 26.31, 2.25, 48},
        {nullptr, "regnetx_040", 23, 96, 38.65, 2.43, 40},          {nullptr, "regnetx_064", 17, 184, 60.83, 2.07, 56},
        {"regnet_x_8gf", "regnetx_080", 23, 80, 49.56, 2.88, 120},  {nullptr, "regnetx_120", 19, 168, 73.36, 2.37, 112},
        {"regnet_x_16gf", "regnetx_160", 22, 216, 55.59, 2.1, 128}, {"regnet_x_32gf", "regnetx_320", 23, 320, 69.86, 2.0, 168},
    };
    constexpr RegNet y[] = {
        {nullptr, "regnety_002", 13, 24, 36.44, 2.49, 8},
        {"regnet_y_400mf", "regnety_004", 16, 48, 27.89, 2.09, 8},
        {nullptr, "regnety_006", 15, 48, 32.54, 2.32, 16},
        {"regnet_y_800mf", "regnety_008", 14, 56, 38.84, 2.4, 16},
        {"regnet_y_1_6gf", "regnety_016", 27, 48, 20.71, 2.65, 24},
        {"regnet_y_3_2gf", "regnety_032", 21, 80, 42.63, 2.66, 24},
        {nullptr, "regnety_040", 22, 96, 31.41, 2.24, 64},
        {nullptr, "regnety_064", 25, 112, 33.22, 2.27, 72},
        {"regnet_y_8gf", "regnety_080", 17, 192, 76.82, 2.19, 56},
        {nullptr, "regnety_120", 19, 168, 73.36, 2.37, 112},
        {"regnet_y_16gf", "regnety_160", 18, 200, 106.23, 2.48, 112},
        {"regnet_y_32gf", "regnety_320", 20, 232, 115.89, 2.53, 232},
        {nullptr, "regnety_640", 20, 352, 147.48, 2.4, 328},
        {"regnet_y_128gf", "regnety_1280", 27, 456, 160.83, 2.52, 264},
        {nullptr, "regnety_2560", 27, 640, 230.83, 2.53, 373},
    };
    std::vector<Architecture> all;
    const auto add = [&](const char* name, const RegNet& r, const RegNetKind& k, std::int64_t image_px = 224) {
        all.push_back({{name}, [=](NetworkBuilder& n, std::int64_t classes) { build_regnet(n, r, k, classes); }, image_px});
    };
    const auto add_family = [&](std::span<const RegNet> family, bool squeezes) {
        for (const RegNet& r : family) {
            if (r.in_torchvision != nullptr) add(r.in_torchvision, r, {squeezes, Rounding::at_most_a_tenth_down});
            add(r.in_timm, r, {squeezes, Rounding::nearest});
        }
    };
    add_family(x, false);
    add_family(y, true);
    // timm's, regnet.py.
    const RegNet v_4{nullptr, nullptr, 22, 96, 31.41, 2.24, 64}, v_6{nullptr, nullptr, 25, 112, 33.22, 2.27, 72},
        z_half{nullptr, nullptr, 21, 16, 10.7, 2.51, 4}, z_4{nullptr, nullptr, 28, 48, 14.5, 2.226, 8};
    add("regnetv_040", v_4, {true, Rounding::nearest, RegNetForm::v});
    add("regnetv_064", v_6, {true, Rounding::nearest, RegNetForm::v_with_averages});
    add("regnetz_005", z_half, {true, Rounding::nearest, RegNetForm::z, 1024});
    add("regnetz_040", z_4, {true, Rounding::nearest, RegNetForm::z}, 256);
    add("regnetz_040_h", z_4, {true, Rounding::nearest, RegNetForm::z, 1536}, 256);
    return all;
}

}  // namespace sextant
