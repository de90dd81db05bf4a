// RegNet (Radosavovic et al., arXiv 2003.13678): residual blocks whose widths grow along a line, in steps (section 3.3), with groups of one
// width; RegNetY with squeeze and excitation by a quarter of what the block reads.
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

Image regnet_block(Layers& l, Image x, std::int64_t width, std::int64_t group_width, std::int64_t stride, bool squeezes) {
    const std::int64_t groups = width / std::min(group_width, width);
    Image y = l.relu(l.norm("bn1", l.conv("conv1", x, {.out_channels = width})));
    y = l.relu(l.norm("bn2", l.conv("conv2", y, {.out_channels = width, .kernel = 3, .stride = stride, .groups = groups})));
    if (squeezes) y = l.squeeze_excite(y, std::llrint(0.25 * static_cast<double>(x.channels)), PointwiseKind::relu);
    y = l.norm("bn3", l.conv("conv3", y, {.out_channels = width}));
    if (stride > 1) x = l.norm("downsample.bn", l.conv("downsample", x, {.out_channels = width, .stride = stride}));
    return l.relu(l.add("add", y, x));
}

void build_regnet(NetworkBuilder& network, const RegNet& r, bool squeezes, Rounding rounding, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return l.relu(l.norm("bn", l.conv("conv", x, {.out_channels = 32, .kernel = 3, .stride = 2})));
    });
    std::int64_t before = 0;
    for (const std::int64_t width : widths_of(r, rounding)) {
        const std::int64_t stride = width == before ? 1 : 2;  // a stage begins where blocks become wider
        network.block("block of " + std::to_string(width), BlockRole::layer,
                      [&](Layers& l, Image x) { return regnet_block(l, x, width, r.group_width, stride, squeezes); });
        before = width;
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
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
        {"regnet_y_128gf", "regnety_1280", 27, 456, 160.83, 2.52, 264},
    };
    std::vector<Architecture> all;
    const auto add = [&](const char* name, const RegNet& r, bool squeezes, Rounding rounding) {
        all.push_back({{name}, [=](NetworkBuilder& n, std::int64_t classes) { build_regnet(n, r, squeezes, rounding, classes); }});
    };
    const auto add_family = [&](std::span<const RegNet> family, bool squeezes) {
        for (const RegNet& r : family) {
            if (r.in_torchvision != nullptr) add(r.in_torchvision, r, squeezes, Rounding::at_most_a_tenth_down);
            add(r.in_timm, r, squeezes, Rounding::nearest);
        }
    };
    add_family(x, false);
    add_family(y, true);
    return all;
}

}  // namespace sextant
