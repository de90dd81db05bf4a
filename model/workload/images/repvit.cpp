// RepViT (Wang et al., arXiv 2307.09283, figure 3), as it is trained: filters of each channel of 3x3 and of 1x1, and the image itself, are
// added; then a perceptron. Two classifiers, one of which learns of a teacher. As timm has it. A stage is one block.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct RepVit {
    const char* name;
    std::array<int, 4> blocks;
    std::int64_t channels;    // of the first stage; each later one has twice those before it
    bool norms_each = false;  // filter; else their sum alone besides the first
};

Image repvit_filters(Layers& l, Image x, const RepVit& r) {
    const std::int64_t c = x.channels;
    const Image large = l.conv_norm("filter", x, {.out_channels = c, .kernel = 3, .groups = c});
    Image small = l.conv("filter1", x, {.out_channels = c, .groups = c, .bias = !r.norms_each});
    if (r.norms_each) small = l.norm("filter1.bn", small);
    const Image sum = l.add("filters.add image", l.add("filters.add", large, small), x);
    return r.norms_each ? sum : l.norm("filters.bn", sum);
}

Image repvit_perceptron(Layers& l, Image x) {
    const Image wide = l.activation(l.conv_norm("expand", x, {.out_channels = 2 * x.channels}), PointwiseKind::gelu);
    return l.add("add", x, l.conv_norm("contract", wide, {.out_channels = x.channels}));
}

Image repvit_block(Layers& l, Image x, const RepVit& r, bool squeezes) {
    x = repvit_filters(l, x, r);
    if (squeezes) x = l.squeeze_excite(x, (x.channels / 4 + 4) / 8 * 8, PointwiseKind::relu);
    return repvit_perceptron(l, x);
}

void build_repvit(NetworkBuilder& network, const RepVit& r, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = l.activation(l.conv_norm("conv1", x, {.out_channels = r.channels / 2, .kernel = 3, .stride = 2}), PointwiseKind::gelu);
        return l.conv_norm("conv2", x, {.out_channels = r.channels, .kernel = 3, .stride = 2});
    });
    for (std::size_t stage = 0; stage < r.blocks.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            if (stage > 0) {
                x = repvit_block(l, x, r, false);
                x = l.conv_norm("downsample", x, {.out_channels = x.channels, .kernel = 3, .stride = 2, .groups = x.channels});
                x = repvit_perceptron(l, l.conv_norm("widen", x, {.out_channels = r.channels << stage}));
            }
            for (int i = 0; i < r.blocks[stage]; ++i) x = repvit_block(l, x, r, i % 2 == 0);
            return x;
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.global_pool(x);
        const auto logits = [&](const std::string& name) {
            return l.linear(name, l.norm(name + ".bn", x), classes, true, TensorRole::logits);
        };
        const Image sum = l.add("classifiers.add", logits("classifier"), logits("classifier of the teacher's"));
        return l.loss(l.times(sum, 0.5));
    });
}

}  // namespace

std::vector<Architecture> repvit_architectures() {
    constexpr std::array<int, 4> deep{2, 2, 14, 2}, middle{2, 2, 12, 2};
    std::vector<Architecture> all;
    for (const RepVit& r :
         {RepVit{"repvit_m0_9", deep, 48}, RepVit{"repvit_m1_0", deep, 56}, RepVit{"repvit_m1_1", middle, 64},
          RepVit{"repvit_m1_5", {4, 4, 24, 4}, 64}, RepVit{"repvit_m2_3", {6, 6, 34, 2}, 80}, RepVit{"repvit_m1", deep, 48, true},
          RepVit{"repvit_m2", middle, 64, true}, RepVit{"repvit_m3", {4, 4, 18, 2}, 64, true}})
        all.push_back({{r.name}, [r](NetworkBuilder& n, std::int64_t classes) { build_repvit(n, r, classes); }});
    return all;
}

}  // namespace sextant
