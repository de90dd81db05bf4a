// Networks of inverted residuals that others found one by one. MixNet (Tan and Le, arXiv 1907.09595) has kernels of several sizes side by
// side; HardCoRe-NAS (Nayman et al., arXiv 2102.11646) and FBNetV3 (Dai et al., arXiv 2006.02049) are of searches; PP-LCNet (Cui et al.,
// arXiv 2109.15099) is a MobileNetV1 with later inventions; MobileNetV4 (Qin et al., arXiv 2404.10518) may filter in front of what expands,
// too. As timm has them; swish and sigmoid for their hard forms, which read, write and keep as much.
#include "model/workload/images/families.hpp"
#include "model/workload/images/mobile.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sextant {
namespace {

constexpr PointwiseKind relu = PointwiseKind::relu, swish = PointwiseKind::silu;
using Kernels = std::vector<std::int64_t>;

// So many residuals alike, of which the first has the stride.
struct Searched {
    int count;
    Kernels kernels;
    double expansion;
    std::int64_t channels, stride = 1;
    double squeeze = 0;  // to so much of what it reads, or of what it expands that to
    PointwiseKind activation = swish;
    std::int64_t first_kernel = 0;
    int expand_parts = 1, project_parts = 1;
    Filters filters = Filters::depthwise;
    bool adds = true, activates = false;
};

struct SearchedNetwork {
    MobileNetwork ends;  // without residuals
    std::vector<Searched> rows;
    bool squeezes_expanded = false;
    bool rounds_squeezed = false;
    double width = 1, rounds_down_to = 0.9;
};

std::string name_of(const Searched& row, std::int64_t expanded, std::int64_t channels) {
    std::string name = "residual of " + std::to_string(expanded) + " to " + std::to_string(channels) + " by ";
    if (row.first_kernel > 0) name += std::to_string(row.first_kernel) + " and ";
    for (const std::int64_t kernel : row.kernels) name += std::to_string(kernel) + ' ';
    return name + (row.squeeze > 0 ? "with" : "without") + " squeeze";
}

MobileNetwork mobile_of(const SearchedNetwork& s) {
    MobileNetwork m = s.ends;
    std::int64_t in = m.stem_channels;
    for (const Searched& row : s.rows)
        for (int i = 0; i < row.count; ++i) {
            const std::int64_t channels = rounded_channels(static_cast<double>(row.channels) * s.width, s.rounds_down_to);
            const std::int64_t expanded = rounded_channels(static_cast<double>(in) * row.expansion);
            const double squeezed = row.squeeze * static_cast<double>(s.squeezes_expanded ? expanded : in);
            m.residuals.push_back({.name = name_of(row, expanded, channels),
                                   .wide = row.filters == Filters::all ? channels : expanded,
                                   .kernel = row.kernels.front(),
                                   .channels = channels,
                                   .stride = i == 0 ? row.stride : 1,
                                   .squeezed = s.rounds_squeezed && squeezed > 0 ? rounded_channels(squeezed, s.rounds_down_to)
                                                                                 : static_cast<std::int64_t>(std::lrint(squeezed)),
                                   .activation = row.activation,
                                   .filters = row.filters,
                                   .adds = row.adds,
                                   .activates = row.activates,
                                   .first_kernel = row.first_kernel,
                                   .mixed = row.kernels.size() > 1 ? row.kernels : Kernels{},
                                   .expand_parts = row.expand_parts,
                                   .project_parts = row.project_parts});
            in = channels;
        }
    return m;
}

// ---- MixNet

// `depth`: of all but the first stage, in which the first residual stays alone.
SearchedNetwork mixnet(std::int64_t stem, std::vector<Searched> rows, double width = 1, double depth = 1) {
    for (std::size_t i = 2; i < rows.size(); i += 2) rows[i].count = static_cast<int>(std::lrint((1 + rows[i].count) * depth)) - 1;
    return {.ends = {.stem_channels = rounded_channels(static_cast<double>(stem) * width), .head_channels = 1536},
            .rows = std::move(rows),
            .width = width};
}

const std::vector<Searched> mixnet_s{{1, {3}, 1, 16, 1, 0, relu},
                                     {1, {3}, 6, 24, 2, 0, relu, 0, 2, 2},
                                     {1, {3}, 3, 24, 1, 0, relu, 0, 2, 2},
                                     {1, {3, 5, 7}, 6, 40, 2, 0.5},
                                     {3, {3, 5}, 6, 40, 1, 0.5, swish, 0, 2, 2},
                                     {1, {3, 5, 7}, 6, 80, 2, 0.25, swish, 0, 1, 2},
                                     {2, {3, 5}, 6, 80, 1, 0.25, swish, 0, 1, 2},
                                     {1, {3, 5, 7}, 6, 120, 1, 0.5, swish, 0, 2, 2},
                                     {2, {3, 5, 7, 9}, 3, 120, 1, 0.5, swish, 0, 2, 2},
                                     {1, {3, 5, 7, 9, 11}, 6, 200, 2, 0.5},
                                     {2, {3, 5, 7, 9}, 6, 200, 1, 0.5, swish, 0, 1, 2}};
const std::vector<Searched> mixnet_m{{1, {3}, 1, 24, 1, 0, relu},
                                     {1, {3, 5, 7}, 6, 32, 2, 0, relu, 0, 2, 2},
                                     {1, {3}, 3, 32, 1, 0, relu, 0, 2, 2},
                                     {1, {3, 5, 7, 9}, 6, 40, 2, 0.5},
                                     {3, {3, 5}, 6, 40, 1, 0.5, swish, 0, 2, 2},
                                     {1, {3, 5, 7}, 6, 80, 2, 0.25},
                                     {3, {3, 5, 7, 9}, 6, 80, 1, 0.25, swish, 0, 2, 2},
                                     {1, {3}, 6, 120, 1, 0.5},
                                     {3, {3, 5, 7, 9}, 3, 120, 1, 0.5, swish, 0, 2, 2},
                                     {1, {3, 5, 7, 9}, 6, 200, 2, 0.5},
                                     {3, {3, 5, 7, 9}, 6, 200, 1, 0.5, swish, 0, 1, 2}};

// ---- HardCoRe-NAS, FBNetV3, LCNet

SearchedNetwork hardcore(std::vector<Searched> rows) {
    for (Searched& row : rows)
        if (row.channels <= 40) row.activation = relu;
    rows.insert(rows.begin(), {1, {3}, 1, 16, 1, 0, relu});
    return {.ends = {.stem_channels = 32, .head_channels = 960, .hidden = 1280, .activation = swish, .squeeze_activation = relu},
            .rows = std::move(rows),
            .squeezes_expanded = true,
            .rounds_squeezed = true};
}

SearchedNetwork fbnet_v3(std::int64_t stem, std::int64_t head, std::vector<Searched> rows) {
    return {.ends = {.stem_channels = stem, .head_channels = head, .hidden = 1984, .activation = swish, .hidden_form = Hidden::plain},
            .rows = std::move(rows),
            .rounds_squeezed = true,
            .rounds_down_to = 0.95};
}

SearchedNetwork lcnet(double width) {
    const auto separable = [](int count, std::int64_t kernel, std::int64_t channels, std::int64_t stride, double squeeze = 0) {
        return Searched{.count = count,
                        .kernels = {kernel},
                        .expansion = 1,
                        .channels = channels,
                        .stride = stride,
                        .squeeze = squeeze,
                        .adds = false,
                        .activates = true};
    };
    return {.ends = {.stem_channels = rounded_channels(16 * width), .hidden = 1280, .activation = swish, .squeeze_activation = relu},
            .rows = {separable(1, 3, 32, 1), separable(2, 3, 64, 2), separable(2, 3, 128, 2), separable(1, 3, 256, 2),
                     separable(1, 5, 256, 1), separable(4, 5, 256, 1), separable(2, 5, 512, 2, 0.25)},
            .width = width};
}

// ---- MobileNetV4

Searched universal(int count, std::int64_t first_kernel, std::int64_t kernel, double expansion, std::int64_t channels,
                   std::int64_t stride = 1) {
    return {.count = count,
            .kernels = {kernel},
            .expansion = expansion,
            .channels = channels,
            .stride = stride,
            .activation = relu,
            .first_kernel = first_kernel};
}

Searched fused(std::int64_t kernel, double expansion, std::int64_t channels, std::int64_t stride, Filters filters = Filters::fused) {
    return {.count = 1,
            .kernels = {kernel},
            .expansion = expansion,
            .channels = channels,
            .stride = stride,
            .activation = relu,
            .filters = filters,
            .adds = filters == Filters::fused};
}

SearchedNetwork mobilenet_v4(std::int64_t stem, std::vector<Searched> rows, Reduction reduction = Reduction::strides, double width = 1) {
    return {.ends = {.stem_channels = stem,
                     .head_channels = rounded_channels(960 * width),
                     .hidden = 1280,
                     .hidden_form = Hidden::normed,
                     .reduction = reduction},
            .rows = std::move(rows),
            .width = width};
}

const std::vector<Searched> v4_small{fused(3, 1, 32, 2, Filters::all), fused(1, 1, 32, 1, Filters::all), fused(3, 1, 96, 2, Filters::all),
                                     fused(1, 1, 64, 1, Filters::all), universal(1, 5, 5, 3, 96, 2),     universal(4, 0, 3, 2, 96),
                                     universal(1, 3, 0, 4, 96),        universal(1, 3, 3, 6, 128, 2),    universal(1, 5, 5, 4, 128),
                                     universal(1, 0, 5, 4, 128),       universal(1, 0, 5, 3, 128),       universal(2, 0, 3, 4, 128)};
const std::vector<Searched> v4_medium{
    fused(3, 4, 48, 2),         universal(1, 3, 5, 4, 80, 2), universal(1, 3, 3, 2, 80),     universal(1, 3, 5, 6, 160, 2),
    universal(2, 3, 3, 4, 160), universal(1, 3, 5, 4, 160),   universal(1, 3, 3, 4, 160),    universal(1, 3, 0, 4, 160),
    universal(1, 0, 0, 2, 160), universal(1, 3, 0, 4, 160),   universal(1, 5, 5, 6, 256, 2), universal(1, 5, 5, 4, 256),
    universal(2, 3, 5, 4, 256), universal(1, 0, 0, 4, 256),   universal(1, 3, 0, 4, 256),    universal(1, 3, 5, 2, 256),
    universal(1, 5, 5, 4, 256), universal(2, 0, 0, 4, 256),   universal(1, 5, 0, 2, 256)};
const std::vector<Searched> v4_large{fused(3, 4, 48, 2),
                                     universal(1, 3, 5, 4, 96, 2),
                                     universal(1, 3, 3, 4, 96),
                                     universal(1, 3, 5, 4, 192, 2),
                                     universal(3, 3, 3, 4, 192),
                                     universal(1, 3, 5, 4, 192),
                                     universal(5, 5, 3, 4, 192),
                                     universal(1, 3, 0, 4, 192),
                                     universal(4, 5, 5, 4, 512, 2),
                                     universal(1, 5, 0, 4, 512),
                                     universal(1, 5, 3, 4, 512),
                                     universal(2, 5, 0, 4, 512),
                                     universal(1, 5, 3, 4, 512),
                                     universal(1, 5, 5, 4, 512),
                                     universal(3, 5, 0, 4, 512)};

}  // namespace

std::vector<Architecture> searched_mobile_architectures() {
    std::vector<Architecture> all;
    const auto add = [&](std::vector<std::string> names, const SearchedNetwork& s, std::int64_t image_px = 224) {
        all.push_back(
            {std::move(names), [s](NetworkBuilder& n, std::int64_t classes) { build_mobile(n, mobile_of(s), classes); }, image_px});
    };
    add({"mixnet_s"}, mixnet(16, mixnet_s));
    add({"mixnet_m"}, mixnet(24, mixnet_m));
    add({"mixnet_l"}, mixnet(24, mixnet_m, 1.3));
    add({"mixnet_xl"}, mixnet(24, mixnet_m, 1.6, 1.2));
    add({"mixnet_xxl"}, mixnet(24, mixnet_m, 2.4, 1.3));
    add({"hardcorenas_a"}, hardcore({{1, {5}, 3, 24, 2},
                                     {1, {5}, 3, 24, 1, 0.25},
                                     {1, {5}, 3, 40, 2},
                                     {1, {5}, 6, 40, 1, 0.25},
                                     {1, {5}, 6, 80, 2, 0.25},
                                     {1, {5}, 6, 80, 1, 0.25},
                                     {2, {5}, 6, 112, 1, 0.25},
                                     {1, {5}, 6, 192, 2, 0.25},
                                     {1, {5}, 6, 192, 1, 0.25}}));
    add({"hardcorenas_b"}, hardcore({{1, {5}, 3, 24, 2},
                                     {1, {5}, 3, 24, 1, 0.25},
                                     {1, {3}, 3, 24},
                                     {1, {5}, 3, 40, 2},
                                     {2, {5}, 3, 40},
                                     {1, {5}, 3, 80, 2},
                                     {1, {5}, 3, 80},
                                     {2, {3}, 3, 80},
                                     {1, {5}, 3, 112},
                                     {3, {3}, 3, 112},
                                     {1, {5}, 6, 192, 2, 0.25},
                                     {1, {5}, 6, 192, 1, 0.25},
                                     {1, {3}, 3, 192, 1, 0.25}}));
    add({"hardcorenas_c"}, hardcore({{1, {5}, 3, 24, 2},
                                     {1, {5}, 3, 24, 1, 0.25},
                                     {1, {5}, 3, 40, 2},
                                     {3, {5}, 3, 40},
                                     {1, {5}, 4, 80, 2},
                                     {1, {5}, 6, 80, 1, 0.25},
                                     {2, {3}, 3, 80},
                                     {1, {5}, 6, 112, 1, 0.25},
                                     {3, {3}, 3, 112},
                                     {1, {5}, 6, 192, 2, 0.25},
                                     {1, {5}, 6, 192, 1, 0.25},
                                     {1, {3}, 3, 192, 1, 0.25}}));
    add({"hardcorenas_d"}, hardcore({{1, {5}, 3, 24, 2, 0.25},
                                     {1, {5}, 3, 24, 1, 0.25},
                                     {1, {5}, 3, 40, 2, 0.25},
                                     {1, {5}, 4, 40, 1, 0.25},
                                     {1, {3}, 3, 40, 1, 0.25},
                                     {1, {5}, 4, 80, 2, 0.25},
                                     {3, {3}, 3, 80, 1, 0.25},
                                     {1, {3}, 4, 112, 1, 0.25},
                                     {1, {5}, 4, 112, 1, 0.25},
                                     {1, {3}, 3, 112, 1, 0.25},
                                     {1, {5}, 3, 112, 1, 0.25},
                                     {1, {5}, 6, 192, 2, 0.25},
                                     {2, {5}, 6, 192, 1, 0.25},
                                     {1, {3}, 6, 192, 1, 0.25}}));
    add({"hardcorenas_e"}, hardcore({{1, {5}, 3, 24, 2, 0.25},
                                     {1, {5}, 3, 24, 1, 0.25},
                                     {1, {5}, 6, 40, 2, 0.25},
                                     {2, {5}, 4, 40, 1, 0.25},
                                     {1, {3}, 3, 40, 1, 0.25},
                                     {1, {5}, 4, 80, 2, 0.25},
                                     {1, {3}, 6, 80, 1, 0.25},
                                     {3, {5}, 6, 112, 1, 0.25},
                                     {1, {5}, 3, 112, 1, 0.25},
                                     {1, {5}, 6, 192, 2, 0.25},
                                     {2, {5}, 6, 192, 1, 0.25},
                                     {1, {3}, 6, 192, 1, 0.25}}));
    add({"hardcorenas_f"}, hardcore({{1, {5}, 3, 24, 2, 0.25},
                                     {1, {5}, 3, 24, 1, 0.25},
                                     {1, {5}, 6, 40, 2, 0.25},
                                     {1, {5}, 6, 40, 1, 0.25},
                                     {1, {5}, 6, 80, 2, 0.25},
                                     {1, {5}, 6, 80, 1, 0.25},
                                     {2, {3}, 3, 80, 1, 0.25},
                                     {1, {3}, 6, 112, 1, 0.25},
                                     {2, {5}, 6, 112, 1, 0.25},
                                     {1, {3}, 3, 112, 1, 0.25},
                                     {1, {5}, 6, 192, 2, 0.25},
                                     {1, {5}, 6, 192, 1, 0.25},
                                     {2, {3}, 6, 192, 1, 0.25}}));
    add({"fbnetv3_b"}, fbnet_v3(16, 1344,
                                {{2, {3}, 1, 16},
                                 {1, {5}, 4, 24, 2},
                                 {3, {5}, 2, 24},
                                 {1, {5}, 5, 40, 2, 0.25},
                                 {4, {5}, 3, 40, 1, 0.25},
                                 {1, {5}, 5, 72, 2},
                                 {4, {3}, 3, 72},
                                 {1, {3}, 5, 120, 1, 0.25},
                                 {5, {5}, 3, 120, 1, 0.25},
                                 {1, {3}, 6, 184, 2, 0.25},
                                 {5, {5}, 4, 184, 1, 0.25},
                                 {1, {5}, 6, 224, 1, 0.25}}));
    add({"fbnetv3_d"}, fbnet_v3(24, 1440,
                                {{2, {3}, 1, 16},
                                 {1, {3}, 5, 24, 2},
                                 {5, {3}, 2, 24},
                                 {1, {5}, 4, 40, 2, 0.25},
                                 {4, {3}, 3, 40, 1, 0.25},
                                 {1, {3}, 5, 72, 2},
                                 {4, {3}, 3, 72},
                                 {1, {3}, 5, 128, 1, 0.25},
                                 {6, {5}, 3, 128, 1, 0.25},
                                 {1, {3}, 6, 208, 2, 0.25},
                                 {5, {5}, 5, 208, 1, 0.25},
                                 {1, {5}, 6, 240, 1, 0.25}}));
    add({"fbnetv3_g"},
        fbnet_v3(32, 1728,
                 {{3, {3}, 1, 24},
                  {1, {5}, 4, 40, 2},
                  {4, {5}, 2, 40},
                  {1, {5}, 4, 56, 2, 0.25},
                  {4, {5}, 3, 56, 1, 0.25},
                  {1, {5}, 5, 104, 2},
                  {4, {3}, 3, 104},
                  {1, {3}, 5, 160, 1, 0.25},
                  {8, {5}, 3, 160, 1, 0.25},
                  {1, {3}, 6, 264, 2, 0.25},
                  {6, {5}, 5, 264, 1, 0.25},
                  {2, {5}, 6, 288, 1, 0.25}}),
        240);
    add({"lcnet_035"}, lcnet(0.35));
    add({"lcnet_050"}, lcnet(0.5));
    add({"lcnet_075"}, lcnet(0.75));
    add({"lcnet_100"}, lcnet(1));
    add({"lcnet_150"}, lcnet(1.5));
    add({"mobilenetv4_conv_small_035"}, mobilenet_v4(32, v4_small, Reduction::strides, 0.35));
    add({"mobilenetv4_conv_small_050"}, mobilenet_v4(32, v4_small, Reduction::strides, 0.5));
    add({"mobilenetv4_conv_small"}, mobilenet_v4(32, v4_small));
    add({"mobilenetv4_conv_medium"}, mobilenet_v4(32, v4_medium), 256);
    add({"mobilenetv4_conv_aa_medium"}, mobilenet_v4(32, v4_medium, Reduction::averages), 256);
    add({"mobilenetv4_conv_blur_medium"}, mobilenet_v4(32, v4_medium, Reduction::blurs));
    add({"mobilenetv4_conv_large"}, mobilenet_v4(24, v4_large), 384);
    add({"mobilenetv4_conv_aa_large"}, mobilenet_v4(24, v4_large, Reduction::averages), 448);
    return all;
}

}  // namespace sextant
