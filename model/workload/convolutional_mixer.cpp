// MLP-Mixer (Tolstikhin et al., arXiv 2105.01601, table 1): a perceptron over the patches of each channel, then one over the channels of
// each patch.
#include "model/workload/convolutional_families.hpp"

namespace sextant {

Image Layers::transpose(Image x, std::int64_t height, std::int64_t width) {
    x = whole(x);
    Image y = x;
    y.channels = x.height * x.width;
    y.height = height;
    y.width = width;
    return emit("transpose", Pointwise{PointwiseKind::copy, elements_here(y)}, {x.id}, y);
}

namespace {

struct Mixer {
    const char* name;
    std::int64_t patch_px, layers, channels;
};

Image perceptron(Layers& l, const std::string& name, Image x, std::int64_t wide) {
    const Image y = l.activation(l.linear(name + ".expand", x, wide), PointwiseKind::gelu);
    return l.linear(name + ".contract", y, x.channels);
}

Image mixer_layer(Layers& l, Image x) {
    const Image patches = l.transpose(l.norm("norm1", x, NormKind::layer), x.channels, 1);
    const Image mixed = perceptron(l, "patches", patches, x.channels / 2);
    x = l.add("patches.add", x, l.transpose(mixed, x.height, x.width));
    return l.add("channels.add", x, perceptron(l, "channels", l.norm("norm2", x, NormKind::layer), 4 * x.channels));
}

void build_mixer(NetworkBuilder& network, const Mixer& m, std::int64_t classes) {
    network.block("patches", BlockRole::input, [&](Layers& l, Image x) {
        return l.conv("conv", x, {.out_channels = m.channels, .kernel = m.patch_px, .stride = m.patch_px, .padding = 0, .bias = true});
    });
    for (int i = 0; i < m.layers; ++i) network.block("layer", BlockRole::layer, mixer_layer);
    network.block("head", BlockRole::head,
                  [&](Layers& l, Image x) { return l.classifier(l.global_pool(l.norm("norm", x, NormKind::layer)), classes); });
}

}  // namespace

std::vector<Architecture> mixer_architectures() {
    std::vector<Architecture> all;
    for (const Mixer& m : {Mixer{"mixer_s32_224", 32, 8, 512}, Mixer{"mixer_s16_224", 16, 8, 512}, Mixer{"mixer_b32_224", 32, 12, 768},
                           Mixer{"mixer_b16_224", 16, 12, 768}, Mixer{"mixer_l32_224", 32, 24, 1024}, Mixer{"mixer_l16_224", 16, 24, 1024}})
        all.push_back({{m.name}, [m](NetworkBuilder& n, std::int64_t classes) { build_mixer(n, m, classes); }});
    return all;
}

}  // namespace sextant
