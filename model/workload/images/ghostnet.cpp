// GhostNet (Han et al., arXiv 1911.11907, section 3 and table 1): half of the channels of a layer are made of the other half, each by a
// filter of its own.
#include "model/workload/images/families.hpp"

#include <algorithm>

namespace sextant {
namespace {

struct GhostBottleneck {
    std::int64_t kernel, wide, channels;
    bool squeezes;  // to a quarter of the wide channels
    std::int64_t stride;
};

// To a multiple of 4, at most a tenth down.
std::int64_t in_fours(double channels) {
    const std::int64_t near = std::max<std::int64_t>(4, static_cast<std::int64_t>(channels + 2) / 4 * 4);
    return static_cast<double>(near) < 0.9 * channels ? near + 4 : near;
}

Image ghosts(Layers& l, const std::string& name, Image x, std::int64_t channels, bool activates) {
    const std::int64_t half = channels / 2;
    const auto activated = [&](Image y) { return activates ? l.relu(y) : y; };
    const Image made = activated(l.conv_norm(name, x, {.out_channels = half}));
    return l.concatenate({made, activated(l.conv_norm(name + ".ghosts", made, {.out_channels = half, .kernel = 3, .groups = half}))});
}

Image depthwise_norm(Layers& l, const std::string& name, Image x, std::int64_t kernel, std::int64_t stride) {
    return l.conv_norm(name, x, {.out_channels = x.channels, .kernel = kernel, .stride = stride, .groups = x.channels});
}

Image ghost_bottleneck(Layers& l, Image x, const GhostBottleneck& g) {
    Image y = ghosts(l, "expand", x, g.wide, true);
    if (g.stride > 1) y = depthwise_norm(l, "depthwise", y, g.kernel, g.stride);
    if (g.squeezes) y = l.squeeze_excite(y, in_fours(static_cast<double>(g.wide) / 4), PointwiseKind::relu);
    y = ghosts(l, "project", y, g.channels, false);
    if (g.stride > 1 || x.channels != g.channels)
        x = l.conv_norm("shortcut", depthwise_norm(l, "shortcut.depthwise", x, g.kernel, g.stride), {.out_channels = g.channels});
    return l.add("add", y, x);
}

void build_ghostnet(NetworkBuilder& network, double width, std::int64_t classes) {
    constexpr GhostBottleneck bottlenecks[] = {
        {3, 16, 16, false, 1},   {3, 48, 24, false, 2},  {3, 72, 24, false, 1},   {5, 72, 40, true, 2},
        {5, 120, 40, true, 1},   {3, 240, 80, false, 2}, {3, 200, 80, false, 1},  {3, 184, 80, false, 1},
        {3, 184, 80, false, 1},  {3, 480, 112, true, 1}, {3, 672, 112, true, 1},  {5, 672, 160, true, 2},
        {5, 960, 160, false, 1}, {5, 960, 160, true, 1}, {5, 960, 160, false, 1}, {5, 960, 160, true, 1},
    };
    const auto wider = [&](std::int64_t channels) { return in_fours(static_cast<double>(channels) * width); };
    network.block("stem", BlockRole::input,
                  [&](Layers& l, Image x) { return l.conv_norm_relu("conv", x, {.out_channels = wider(16), .kernel = 3, .stride = 2}); });
    for (GhostBottleneck g : bottlenecks) {
        g.wide = wider(g.wide);
        g.channels = wider(g.channels);
        const std::string name = "ghost bottleneck of " + std::to_string(g.wide) + " to " + std::to_string(g.channels);
        network.block(g.squeezes ? name + ", squeezing" : name, BlockRole::layer,
                      [&](Layers& l, Image x) { return ghost_bottleneck(l, x, g); });
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.global_pool(l.conv_norm_relu("conv", x, {.out_channels = wider(960)}));
        return l.classifier(l.dropout(l.relu(l.linear("hidden", x, 1280)), 0.2), classes);
    });
}

}  // namespace

std::vector<Architecture> ghostnet_architectures() {
    const auto of_width = [](double width) { return [=](NetworkBuilder& n, std::int64_t classes) { build_ghostnet(n, width, classes); }; };
    return {{{"ghostnet_050"}, of_width(0.5)}, {{"ghostnet_100", "ghostnet"}, of_width(1)}, {{"ghostnet_130"}, of_width(1.3)}};
}

}  // namespace sextant
