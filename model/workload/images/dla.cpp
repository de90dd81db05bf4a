// Deep layer aggregation (Yu et al., arXiv 1707.06484, figures 2 and 3, table 1): trees of residuals, whose roots mix what all nodes below
// them and the stages before have made.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct AggregatingNetwork {
    const char* name;
    std::array<int, 4> depths;             // of the trees of the last four stages
    std::array<std::int64_t, 4> channels;  // likewise
    bool bottleneck = true;
    std::int64_t groups = 1, width_per_group = 64;  // at 64 channels, of which a bottleneck has half
    bool residual_roots = false;
};

Image tree_residual(Layers& l, Image x, Image shortcut, std::int64_t channels, std::int64_t stride, const AggregatingNetwork& a) {
    Image y = x;
    if (a.bottleneck) {
        const std::int64_t inner = channels * a.width_per_group / 64 * a.groups / 2;
        y = l.conv_norm_relu("conv1", y, {.out_channels = inner});
        y = l.conv_norm_relu("conv2", y, {.out_channels = inner, .kernel = 3, .stride = stride, .groups = a.groups});
        y = l.conv_norm("conv3", y, {.out_channels = channels});
    } else {
        y = l.conv_norm_relu("conv1", y, {.out_channels = channels, .kernel = 3, .stride = stride});
        y = l.conv_norm("conv2", y, {.out_channels = channels, .kernel = 3});
    }
    return l.relu(l.add("add", y, shortcut));
}

// `below`: what its root reads beside its own residuals; `reads_input`: and that, made as small as they are.
Image tree(Layers& l, Image x, int depth, std::int64_t channels, std::int64_t stride, bool reads_input, std::vector<Image> below,
           const AggregatingNetwork& a) {
    const bool leaf = depth == 1;
    const Image small = stride > 1 && (leaf || reads_input) ? l.pool("pool", x, {.kernel = stride, .stride = stride}) : x;
    if (reads_input) below.push_back(small);
    if (!leaf) {
        below.push_back(tree(l, x, depth - 1, channels, stride, false, {}, a));
        return tree(l, below.back(), depth - 1, channels, 1, false, below, a);
    }
    const Image shortcut = small.channels == channels ? small : l.conv_norm("project", small, {.out_channels = channels});
    const Image first = tree_residual(l, x, shortcut, channels, stride, a);
    const Image second = tree_residual(l, first, first, channels, 1, a);
    below.insert(below.begin(), {second, first});
    const Image mixed = l.conv_norm("root", l.concatenate(below), {.out_channels = channels});
    return l.relu(a.residual_roots ? l.add("root.add", mixed, second) : mixed);
}

// A stage is one block: its roots read what is far from them.
void build_dla(NetworkBuilder& network, const AggregatingNetwork& a, std::int64_t classes) {
    network.block("stem", BlockRole::input, [](Layers& l, Image x) {
        x = l.conv_norm_relu("conv1", x, {.out_channels = 16, .kernel = 7});
        x = l.conv_norm_relu("conv2", x, {.out_channels = 16, .kernel = 3});
        return l.conv_norm_relu("conv3", x, {.out_channels = 32, .kernel = 3, .stride = 2});
    });
    for (std::size_t stage = 0; stage < a.depths.size(); ++stage)
        network.block("stage " + std::to_string(stage + 3), BlockRole::layer,
                      [&](Layers& l, Image x) { return tree(l, x, a.depths[stage], a.channels[stage], 2, stage > 0, {}, a); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> dla_architectures() {
    constexpr std::array<std::int64_t, 4> full{128, 256, 512, 1024}, half{64, 128, 256, 512}, compact{64, 64, 128, 256};
    const std::vector<AggregatingNetwork> networks{
        {.name = "dla34", .depths = {1, 2, 2, 1}, .channels = half, .bottleneck = false},
        {.name = "dla46_c", .depths = {1, 2, 2, 1}, .channels = compact},
        {.name = "dla46x_c", .depths = {1, 2, 2, 1}, .channels = compact, .groups = 32, .width_per_group = 4},
        {.name = "dla60x_c", .depths = {1, 2, 3, 1}, .channels = compact, .groups = 32, .width_per_group = 4},
        {.name = "dla60", .depths = {1, 2, 3, 1}, .channels = full},
        {.name = "dla60x", .depths = {1, 2, 3, 1}, .channels = full, .groups = 32, .width_per_group = 4},
        {.name = "dla102", .depths = {1, 3, 4, 1}, .channels = full, .residual_roots = true},
        {.name = "dla102x", .depths = {1, 3, 4, 1}, .channels = full, .groups = 32, .width_per_group = 4, .residual_roots = true},
        {.name = "dla102x2", .depths = {1, 3, 4, 1}, .channels = full, .groups = 64, .width_per_group = 4, .residual_roots = true},
        {.name = "dla169", .depths = {2, 3, 5, 1}, .channels = full, .residual_roots = true},
    };
    std::vector<Architecture> all;
    for (const AggregatingNetwork& a : networks)
        all.push_back({{a.name}, [a](NetworkBuilder& n, std::int64_t classes) { build_dla(n, a, classes); }});
    return all;
}

}  // namespace sextant
