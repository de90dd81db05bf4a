// Swin (Liu et al., arXiv 2103.14030): attention among the pixels of a window, every other time of windows shifted by half, and images
// that four pixels become one of. As in torchvision, and the authors' code: scores are written out, for a learned bias is added to them.
// Swin v2 (arXiv 2111.09883) normalizes behind attention and perceptron, and compares queries and keys by cosines.
#include "model/workload/images/families.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace sextant {

Image Layers::merge_pixels(Image x) {
    x = whole(x);
    Image y = x;
    y.channels *= 4;
    y.height = (x.height + 1) / 2;
    y.width = (x.width + 1) / 2;
    const std::int64_t pixel = x.channels, line = x.width * pixel;
    std::vector<CopyAxis> order;
    if (x.height % 2 == 0 && x.width % 2 == 0)  // else the last pixels are filled
        order = {
            {context_.shard.micro_batch, x.height * line}, {y.height, 2 * line}, {y.width, 2 * pixel}, {2, pixel}, {2, line}, {pixel, 1}};
    return rearrange("merge", x, y, std::move(order));
}

namespace {

struct Swin {
    std::vector<std::string> names;
    std::array<int, 4> blocks;     // per stage
    std::int64_t channels, heads;  // of the first stage; each later one has twice those before it
    std::int64_t window_px = 7, image_px = 224;
    int version = 1;
};

Image swin_norm(Layers& l, const std::string& name, Image x) { return l.norm(name, x, NormKind::layer); }

// Windows are no larger than the stage's image was made to be.
Image swin_block(Layers& l, Image x, const Swin& s, std::size_t stage, bool shifted) {
    const std::int64_t window_px = std::min(s.window_px, s.image_px / 4 >> stage);
    AttentionLayer attention{.heads = s.heads << stage, .window_px = window_px, .shifted = shifted, .position_bias = PositionBias::table};
    if (s.version == 1) return l.attention_and_perceptron(x, attention);
    attention.position_bias = PositionBias::perceptron;
    attention.by_cosine = true;
    x = l.add("attention.add", x, swin_norm(l, "norm1", l.attention(x, attention)));
    return l.add("mlp.add", x, swin_norm(l, "norm2", l.perceptron(x, 4 * x.channels)));
}

// A stage is one block: each of its blocks begins with a norm that a compiler joins to the addition before it, or ends with one;
// the second version norms what it merged where the next stage begins.
void build_swin(NetworkBuilder& network, const Swin& s, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return l.conv("conv", x, {.out_channels = s.channels, .kernel = 4, .stride = 4, .padding = 0, .bias = true});
    });
    for (std::size_t stage = 0; stage < s.blocks.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            if (stage == 0 || s.version == 2) x = swin_norm(l, "patches.norm", x);
            for (int i = 0; i < s.blocks[stage]; ++i) x = swin_block(l, x, s, stage, i % 2 == 1);
            if (stage + 1 == s.blocks.size()) return swin_norm(l, "norm", x);
            const Image merged = l.merge_pixels(x);
            return l.linear("reduce", s.version == 1 ? swin_norm(l, "merge.norm", merged) : merged, 2 * x.channels, false);
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> swin_architectures() {
    constexpr std::array tiny{2, 2, 6, 2}, deep{2, 2, 18, 2};
    std::vector<Architecture> all;
    for (const Swin& s :
         {Swin{{"swin_t", "swin_tiny_patch4_window7_224"}, tiny, 96, 3}, Swin{{"swin_s", "swin_small_patch4_window7_224"}, deep, 96, 3},
          Swin{{"swin_b", "swin_base_patch4_window7_224"}, deep, 128, 4}, Swin{{"swin_l", "swin_large_patch4_window7_224"}, deep, 192, 6},
          Swin{{"swin_base_patch4_window12_384"}, deep, 128, 4, 12, 384}, Swin{{"swin_large_patch4_window12_384"}, deep, 192, 6, 12, 384},
          Swin{{"swin_v2_t", "swinv2_tiny_window8_256"}, tiny, 96, 3, 8, 256, 2},
          Swin{{"swin_v2_s", "swinv2_small_window8_256"}, deep, 96, 3, 8, 256, 2},
          Swin{{"swin_v2_b", "swinv2_base_window8_256"}, deep, 128, 4, 8, 256, 2},
          Swin{{"swinv2_tiny_window16_256"}, tiny, 96, 3, 16, 256, 2}, Swin{{"swinv2_small_window16_256"}, deep, 96, 3, 16, 256, 2},
          Swin{{"swinv2_base_window16_256"}, deep, 128, 4, 16, 256, 2}})
        all.push_back({s.names, [s](NetworkBuilder& n, std::int64_t classes) { build_swin(n, s, classes); }, s.image_px});
    return all;
}

}  // namespace sextant
