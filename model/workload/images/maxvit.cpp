// MaxViT (Tu et al., arXiv 2204.01697, figure 2 and table 1), as torchvision has it: an inverted residual, then attention among the pixels
// of each window, then among as many that lie evenly over the image.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct MaxVit {
    std::vector<std::string> names;
    std::array<int, 4> blocks;             // per stage
    std::int64_t stem_channels, channels;  // of the first stage; each later one has twice those before it
};

Image inverted_residual(Layers& l, Image x, std::int64_t channels, std::int64_t stride) {
    const auto norm_gelu = [&](const std::string& name, Image y) { return l.activation(l.norm(name, y), PointwiseKind::gelu); };
    Image beside = x;
    if (stride > 1) beside = l.pool("downsample.pool", x, {.kind = PoolingKind::average, .kernel = 3, .stride = stride, .padding = 1});
    if (stride > 1 || x.channels != channels) beside = l.conv("downsample", beside, {.out_channels = channels, .bias = true});
    const std::int64_t wide = 4 * channels;
    Image y = norm_gelu("bn1", l.conv("expand", l.norm("bn0", x), {.out_channels = wide}));
    y = norm_gelu("bn2", l.conv("depthwise", y, {.out_channels = wide, .kernel = 3, .stride = stride, .groups = wide}));
    y = l.squeeze_excite(y, channels / 4, PointwiseKind::silu);
    return l.add("add", l.conv("project", y, {.out_channels = channels, .bias = true}), beside);
}

Image attention_layer(Layers& l, Image x, bool spread) {
    constexpr std::int64_t head_dim = 32, window_px = 7;
    const AttentionLayer among{
        .heads = x.channels / head_dim, .window_px = window_px, .spread = spread, .position_bias = PositionBias::table};
    return l.attention_and_perceptron(x, among);
}

void build_maxvit(NetworkBuilder& network, const MaxVit& m, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = l.norm("bn", l.conv("conv1", x, {.out_channels = m.stem_channels, .kernel = 3, .stride = 2}));
        return l.conv("conv2", l.activation(x, PointwiseKind::gelu), {.out_channels = m.stem_channels, .kernel = 3, .bias = true});
    });
    for (std::size_t stage = 0; stage < m.blocks.size(); ++stage)
        for (int i = 0; i < m.blocks[stage]; ++i)
            network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
                x = inverted_residual(l, x, m.channels << stage, i == 0 ? 2 : 1);
                return attention_layer(l, attention_layer(l, x, false), true);
            });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.norm("norm", l.global_pool(x), NormKind::layer);
        x = l.activation(l.linear("hidden", x, x.channels), PointwiseKind::tanh);
        return l.loss(l.linear("classifier", x, classes, false, TensorRole::logits));
    });
}

}  // namespace

std::vector<Architecture> maxvit_architectures() {
    std::vector<Architecture> all;
    for (const MaxVit& m :
         {MaxVit{{"maxvit_t", "maxvit_tiny_tf_224"}, {2, 2, 5, 2}, 64, 64}, MaxVit{{"maxvit_small_tf_224"}, {2, 2, 5, 2}, 64, 96},
          MaxVit{{"maxvit_base_tf_224"}, {2, 6, 14, 2}, 64, 96}, MaxVit{{"maxvit_large_tf_224"}, {2, 6, 14, 2}, 128, 128}})
        all.push_back({m.names, [m](NetworkBuilder& n, std::int64_t classes) { build_maxvit(n, m, classes); }});
    return all;
}

}  // namespace sextant
