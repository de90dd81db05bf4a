// Twins (Chu et al., arXiv 2104.13840, tables 1 and 2): of every two layers, the first attends within windows, the second to an image that
// is some times smaller (SVT); or all do the latter (PCPVT). Filters tell where patches stand. A stage is one block.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct Twins {
    const char* name;
    std::array<int, 4> layers;
    std::array<std::int64_t, 4> channels;
    std::int64_t head_dim;
    bool windows;
};

Image twins_layer(Layers& l, Image x, const Twins& t, std::size_t stage, int layer) {
    constexpr std::array<std::int64_t, 4> shrink{8, 4, 2, 1};
    const Image normed = l.norm("norm1", x, NormKind::layer);
    AttentionLayer attention{.heads = x.channels / t.head_dim};
    if (t.windows && layer % 2 == 0) {
        attention.window_px = 7;
    } else {
        attention.shrink = shrink[stage];
        attention.of = normed;
    }
    x = l.add("attention.add", x, l.attention(normed, attention));
    const std::int64_t wide = (t.windows || stage > 1 ? 4 : 8) * x.channels;
    return l.add("mlp.add", x, l.perceptron(l.norm("norm2", x, NormKind::layer), wide));
}

void build_twins(NetworkBuilder& network, const Twins& t, std::int64_t classes) {
    for (std::size_t stage = 0; stage < t.layers.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), stage == 0 ? BlockRole::input : BlockRole::layer, [&](Layers& l, Image x) {
            const std::int64_t by = stage == 0 ? 4 : 2;
            x = l.conv("patches", x, {.out_channels = t.channels[stage], .kernel = by, .stride = by, .padding = 0, .bias = true});
            x = l.norm("patches.norm", x, NormKind::layer);
            for (int i = 0; i < t.layers[stage]; ++i) {
                x = twins_layer(l, x, t, stage, i);
                if (i == 0)
                    x = l.add("positions.add",
                              l.conv("positions", x, {.out_channels = x.channels, .kernel = 3, .groups = x.channels, .bias = true}), x);
            }
            return x;
        });
    network.block("head", BlockRole::head,
                  [&](Layers& l, Image x) { return l.classifier(l.global_pool(l.norm("norm", x, NormKind::layer)), classes); });
}

}  // namespace

std::vector<Architecture> twins_architectures() {
    constexpr std::array<std::int64_t, 4> pcpvt{64, 128, 320, 512}, small{64, 128, 256, 512}, base{96, 192, 384, 768},
        large{128, 256, 512, 1024};
    std::vector<Architecture> all;
    for (const Twins& t :
         {Twins{"twins_pcpvt_small", {3, 4, 6, 3}, pcpvt, 64, false}, Twins{"twins_pcpvt_base", {3, 4, 18, 3}, pcpvt, 64, false},
          Twins{"twins_pcpvt_large", {3, 8, 27, 3}, pcpvt, 64, false}, Twins{"twins_svt_small", {2, 2, 10, 4}, small, 32, true},
          Twins{"twins_svt_base", {2, 2, 18, 2}, base, 32, true}, Twins{"twins_svt_large", {2, 2, 18, 2}, large, 32, true}})
        all.push_back({{t.name}, [t](NetworkBuilder& n, std::int64_t classes) { build_twins(n, t, classes); }});
    return all;
}

}  // namespace sextant
