// RepVGG (Ding et al., arXiv 2101.03697, section 3.3 and table 2) as it is trained: beside each 3x3 a 1x1 and, where shapes are equal, a
// batch norm of what both read. All three become one 3x3 afterwards.
#include "model/workload/images/families.hpp"

#include <algorithm>
#include <array>

namespace sextant {
namespace {

struct RepVgg {
    const char* name;
    std::array<int, 4> blocks;  // per stage
    double width, last_width;   // times 64, 128, 256 channels, and 512
    std::int64_t groups = 1;    // of every second layer
};

Image three_branches(Layers& l, Image x, std::int64_t channels, std::int64_t stride, std::int64_t groups) {
    const auto branch = [&](const char* name, std::int64_t kernel) {
        return l.conv_norm(name, x, {.out_channels = channels, .kernel = kernel, .stride = stride, .groups = groups});
    };
    const bool as_it_is = x.channels == channels && stride == 1;
    Image y = l.add("add", branch("1x1", 1), branch("3x3", 3));
    if (as_it_is) y = l.add("add identity", y, l.norm("identity.bn", x));
    return l.relu(y);
}

void build_repvgg(NetworkBuilder& network, const RepVgg& r, std::int64_t classes) {
    const auto wide = [&](std::int64_t channels, double width) { return static_cast<std::int64_t>(static_cast<double>(channels) * width); };
    network.block("stem", BlockRole::input,
                  [&](Layers& l, Image x) { return three_branches(l, x, std::min<std::int64_t>(64, wide(64, r.width)), 2, 1); });
    int layer = 0;
    for (std::size_t stage = 0; stage < r.blocks.size(); ++stage)
        for (int i = 0; i < r.blocks[stage]; ++i) {
            const std::int64_t channels = wide(64LL << stage, stage + 1 < r.blocks.size() ? r.width : r.last_width);
            const std::int64_t groups = ++layer % 2 == 0 ? r.groups : 1;
            network.block("layer of " + std::to_string(channels) + (groups > 1 ? " in groups" : ""), BlockRole::layer,
                          [&](Layers& l, Image x) { return three_branches(l, x, channels, i == 0 ? 2 : 1, groups); });
        }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> repvgg_architectures() {
    constexpr std::array<int, 4> a{2, 4, 14, 1}, b{4, 6, 16, 1};
    std::vector<Architecture> all;
    for (const RepVgg& r :
         {RepVgg{"repvgg_a0", a, 0.75, 2.5}, RepVgg{"repvgg_a1", a, 1, 2.5}, RepVgg{"repvgg_a2", a, 1.5, 2.75},
          RepVgg{"repvgg_b0", b, 1, 2.5}, RepVgg{"repvgg_b1", b, 2, 4}, RepVgg{"repvgg_b1g4", b, 2, 4, 4}, RepVgg{"repvgg_b2", b, 2.5, 5},
          RepVgg{"repvgg_b2g4", b, 2.5, 5, 4}, RepVgg{"repvgg_b3", b, 3, 5}, RepVgg{"repvgg_b3g4", b, 3, 5, 4}})
        all.push_back({{r.name}, [r](NetworkBuilder& n, std::int64_t classes) { build_repvgg(n, r, classes); }});
    return all;
}

}  // namespace sextant
