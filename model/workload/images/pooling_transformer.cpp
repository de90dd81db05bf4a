// PiT (Heo et al., arXiv 2103.16302, section 3): a vision transformer of three stages, between which patches become fewer and wider. A
// stage is one block.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct PoolingTransformer {
    const char* name;
    std::array<int, 3> layers;
    std::int64_t head_dim;
    std::array<std::int64_t, 3> heads;
    std::int64_t patch_px = 16;  // which overlap by half
    std::int64_t tokens = 1;     // learned vectors in front; two: of the second a teacher's label is learned
};

void build_pit(NetworkBuilder& network, const PoolingTransformer& p, std::int64_t classes) {
    std::int64_t side = 1;
    network.block("patches", BlockRole::input, [&](Layers& l, Image x) {
        const std::int64_t channels = p.head_dim * p.heads[0];
        x = l.conv("patches", x, {.out_channels = channels, .kernel = p.patch_px, .stride = p.patch_px / 2, .padding = 0, .bias = true});
        side = x.width;
        return l.prepend(l.positions(x, x.height * x.width), p.tokens);
    });
    for (std::size_t stage = 0; stage < p.layers.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            if (stage > 0) {
                const std::int64_t channels = p.head_dim * p.heads[stage];
                Image patches = other_tokens(x, p.tokens);
                patches.height = patches.width = side;
                const ConvLayer fewer{.out_channels = channels, .kernel = 3, .stride = 2, .groups = x.channels, .bias = true};
                patches = l.conv("patches", patches, fewer);
                side = patches.width;
                x = l.join(l.linear("tokens", l.first_tokens(x, p.tokens), channels), patches);
            }
            for (int i = 0; i < p.layers[stage]; ++i) x = l.attention_and_perceptron(x, {.heads = p.heads[stage]});
            return x;
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.norm("norm", l.first_tokens(x, p.tokens), NormKind::layer);
        return p.tokens > 1 ? l.distilled_classifier(x, classes) : l.classifier(x, classes);
    });
}

}  // namespace

std::vector<Architecture> pooling_transformer_architectures() {
    constexpr std::array small{2, 6, 4}, base{3, 6, 4};
    constexpr std::array<std::int64_t, 3> narrow{2, 4, 8}, middle{3, 6, 12}, wide{4, 8, 16};
    std::vector<Architecture> all;
    for (const PoolingTransformer& p :
         {PoolingTransformer{"pit_ti_224", small, 32, narrow}, PoolingTransformer{"pit_xs_224", small, 48, narrow},
          PoolingTransformer{"pit_s_224", small, 48, middle}, PoolingTransformer{"pit_b_224", base, 64, wide, 14},
          PoolingTransformer{"pit_ti_distilled_224", small, 32, narrow, 16, 2},
          PoolingTransformer{"pit_xs_distilled_224", small, 48, narrow, 16, 2},
          PoolingTransformer{"pit_s_distilled_224", small, 48, middle, 16, 2},
          PoolingTransformer{"pit_b_distilled_224", base, 64, wide, 14, 2}})
        all.push_back({{p.name}, [p](NetworkBuilder& n, std::int64_t classes) { build_pit(n, p, classes); }});
    return all;
}

}  // namespace sextant
