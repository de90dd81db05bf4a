// Transformers on images that become smaller: the Pyramid Vision Transformer v2 (Wang et al., arXiv 2106.13797, table 1), whose patches
// overlap and whose perceptrons have a convolution inside, and SegFormer (Xie et al., arXiv 2105.15203, sections 3.1 and 3.2), which has
// the same layers and says of each pixel what it belongs to.
#include "model/workload/images/families.hpp"

#include <array>
#include <functional>
#include <utility>

namespace sextant {
namespace {

struct Pyramid {
    const char* name;
    std::array<std::int64_t, 4> channels, blocks, wider;  // per stage; `wider`: the perceptron, so many times
};
constexpr std::array<std::int64_t, 4> pyramid_heads{1, 2, 5, 8}, pyramid_shrinks{8, 4, 2, 1};

Image pyramid_layer(Layers& l, Image x, const AttentionLayer& attention, std::int64_t wider) {
    x = l.add("attention.add", x, l.attention(l.norm("norm1", x, NormKind::layer), attention));
    Image y = l.whole(l.linear("expand", l.norm("norm2", x, NormKind::layer), wider * x.channels));
    y = l.conv("depthwise", y, {.out_channels = y.channels, .kernel = 3, .groups = y.channels, .bias = true});
    return l.add("mlp.add", x, l.linear("contract", l.activation(y, PointwiseKind::gelu), x.channels));
}

// A stage is one block. `hand_on`: what each but the last does for the head beside.
void add_stages(NetworkBuilder& network, const Pyramid& p, const std::function<void(Layers&, Image)>& hand_on) {
    for (std::size_t stage = 0; stage < p.channels.size(); ++stage) {
        const ConvLayer patches{
            .out_channels = p.channels[stage], .kernel = stage == 0 ? 7 : 3, .stride = stage == 0 ? 4 : 2, .bias = true};
        network.block("stage " + std::to_string(stage + 1), stage == 0 ? BlockRole::input : BlockRole::layer, [&](Layers& l, Image x) {
            x = l.norm("patches.norm", l.conv("patches", x, patches), NormKind::layer);
            const AttentionLayer attention{.heads = pyramid_heads[stage], .shrink = pyramid_shrinks[stage]};
            for (std::int64_t i = 0; i < p.blocks[stage]; ++i) x = pyramid_layer(l, x, attention, p.wider[stage]);
            x = l.norm("norm", x, NormKind::layer);
            if (stage + 1 < p.channels.size()) hand_on(l, x);
            return x;
        });
    }
}

void build_pyramid(NetworkBuilder& network, const Pyramid& p, std::int64_t classes) {
    add_stages(network, p, [](Layers&, Image) {});
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

struct SegFormer {
    Pyramid encoder;
    std::int64_t channels;  // of the decoder
};

// Stages see to their part of the decoder: what they make the next one keeps anyway.
void build_segformer(NetworkBuilder& network, const SegFormer& s, std::int64_t classes) {
    const Image data = network.image();
    const auto project = [&](Layers& l, Image x) { return l.whole(l.linear("decoder", x, s.channels)); };
    add_stages(network, s.encoder, [&](Layers& l, Image x) { l.beside().push_back(project(l, x)); });
    network.block("head", BlockRole::head, [&](Layers& l, Image last) {
        std::vector<Image> views = std::exchange(l.beside(), {});
        views.push_back(project(l, last));
        for (Image& x : views)
            if (&x != &views.front()) x = l.enlarge(x, views.front(), PointwiseKind::interpolate);
        const Image x = l.relu(l.norm("bn", l.conv("fuse", l.concatenate(views), {.out_channels = s.channels})));
        return l.pixel_classifier(l.dropout(x, 0.1), classes, data);
    });
}

}  // namespace

std::vector<Architecture> pyramid_architectures() {
    constexpr std::array<std::int64_t, 4> narrow{32, 64, 160, 256}, usual{64, 128, 320, 512}, wide_first{8, 8, 4, 4}, by_four{4, 4, 4, 4};
    std::vector<Architecture> all;
    for (const Pyramid& p : {Pyramid{"pvt_v2_b0", narrow, {2, 2, 2, 2}, wide_first}, Pyramid{"pvt_v2_b1", usual, {2, 2, 2, 2}, wide_first},
                             Pyramid{"pvt_v2_b2", usual, {3, 4, 6, 3}, wide_first}, Pyramid{"pvt_v2_b3", usual, {3, 4, 18, 3}, wide_first},
                             Pyramid{"pvt_v2_b4", usual, {3, 8, 27, 3}, wide_first}, Pyramid{"pvt_v2_b5", usual, {3, 6, 40, 3}, by_four}})
        all.push_back({{p.name}, [p](NetworkBuilder& n, std::int64_t classes) { build_pyramid(n, p, classes); }});
    // Of the 150 classes and the size of ADE20K.
    for (const SegFormer& s :
         {SegFormer{{"segformer_b0", narrow, {2, 2, 2, 2}, by_four}, 256}, SegFormer{{"segformer_b1", usual, {2, 2, 2, 2}, by_four}, 256},
          SegFormer{{"segformer_b2", usual, {3, 4, 6, 3}, by_four}, 768}, SegFormer{{"segformer_b3", usual, {3, 4, 18, 3}, by_four}, 768},
          SegFormer{{"segformer_b4", usual, {3, 8, 27, 3}, by_four}, 768}, SegFormer{{"segformer_b5", usual, {3, 6, 40, 3}, by_four}, 768}})
        all.push_back({{s.encoder.name}, [s](NetworkBuilder& n, std::int64_t classes) { build_segformer(n, s, classes); }, 512, 150});
    return all;
}

}  // namespace sextant
