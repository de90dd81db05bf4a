// Networks on patches without attention. MLP-Mixer (Tolstikhin et al., arXiv 2105.01601, table 1): a perceptron over the patches of each
// channel, then one over the channels of each patch. gMLP (Liu et al., arXiv 2105.08050, section 2): a linear layer over the patches gates
// half of the channels. ResMLP (Touvron et al., arXiv 2105.03404) has one such layer, and no norms. ConvMixer (Trockman and Kolter, arXiv
// 2201.09792, section 2): convolutions for both.
#include "model/workload/images/families.hpp"

namespace sextant {

Image Layers::transpose(Image x, std::int64_t height, std::int64_t width) {
    x = whole(x);
    Image y = x;
    y.channels = x.height * x.width;
    y.height = height;
    y.width = width;
    return rearrange("transpose", x, y, {{context_.shard.micro_batch, x.channels * y.channels}, {x.channels, 1}, {y.channels, x.channels}});
}

namespace {

struct Mixer {
    const char* name;
    std::int64_t patch_px, layers, channels;
    NetworkBuilder::Body layer;
    bool norms = true;  // at the end: else only scales and shifts
};

Image normalize(Layers& l, const std::string& name, Image x) { return l.norm(name, x, NormKind::layer); }

Image over_patches(Layers& l, Image x) {
    const Image patches = l.transpose(x, x.channels, 1);
    return l.transpose(l.linear("patches", patches, patches.channels), x.height, x.width);
}

Image mixer_layer(Layers& l, Image x) {
    const Image patches = l.transpose(normalize(l, "norm1", x), x.channels, 1);
    const Image mixed = l.perceptron(patches, x.channels / 2, "patches.");
    x = l.add("patches.add", x, l.transpose(mixed, x.height, x.width));
    return l.add("channels.add", x, l.perceptron(normalize(l, "norm2", x), 4 * x.channels, "channels."));
}

// With gates of SiLU in both, as timm has it.
Image gmixer_layer(Layers& l, Image x) {
    const Image patches = l.transpose(normalize(l, "norm1", x), x.channels, 1);
    x = l.add("patches.add", x, l.transpose(l.gated_perceptron(patches, x.channels / 2, true), x.height, x.width));
    return l.add("channels.add", x, l.gated_perceptron(normalize(l, "norm2", x), 2 * x.channels, true));
}

// Scales and shifts where others norm.
Image resmlp_layer(Layers& l, Image x) {
    const Image mixed = over_patches(l, l.scale_and_shift("affine1", x));
    x = l.add("patches.add", x, l.scale("patches.scale", mixed));
    const Image y = l.perceptron(l.scale_and_shift("affine2", x), 4 * x.channels, "channels.");
    return l.add("channels.add", x, l.scale("channels.scale", y));
}

Image gmlp_layer(Layers& l, Image x) {
    const Image wide = l.activation(l.linear("expand", normalize(l, "norm", x), 6 * x.channels), PointwiseKind::gelu);
    const auto [kept, gates] = l.halves(wide);
    const Image y = l.gate("gate", kept, over_patches(l, normalize(l, "gate.norm", gates)));
    return l.add("add", x, l.linear("contract", y, x.channels));
}

void build_mixer(NetworkBuilder& network, const Mixer& m, std::int64_t classes) {
    network.block("patches", BlockRole::input, [&](Layers& l, Image x) {
        return l.conv("conv", x, {.out_channels = m.channels, .kernel = m.patch_px, .stride = m.patch_px, .padding = 0, .bias = true});
    });
    for (int i = 0; i < m.layers; ++i) network.block("layer", BlockRole::layer, m.layer);
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        return l.classifier(l.global_pool(m.norms ? normalize(l, "norm", x) : l.scale_and_shift("affine", x)), classes);
    });
}

struct ConvMixer {
    const char* name;
    std::int64_t channels, layers, kernel, patch_px;
    PointwiseKind activation = PointwiseKind::gelu;
};

void build_convmixer(NetworkBuilder& network, const ConvMixer& m, std::int64_t classes) {
    const auto unit = [&](Layers& l, const std::string& name, Image x, const ConvLayer& c) {
        return l.norm(name + ".bn", l.activation(l.conv(name, x, c), m.activation));
    };
    network.block("patches", BlockRole::input, [&](Layers& l, Image x) {
        return unit(l, "conv", x, {.out_channels = m.channels, .kernel = m.patch_px, .stride = m.patch_px, .padding = 0, .bias = true});
    });
    for (int i = 0; i < m.layers; ++i)
        network.block("layer", BlockRole::layer, [&](Layers& l, Image x) {
            const ConvLayer depthwise{.out_channels = m.channels, .kernel = m.kernel, .groups = m.channels, .bias = true};
            x = l.add("add", x, unit(l, "depthwise", x, depthwise));
            return unit(l, "pointwise", x, {.out_channels = m.channels, .bias = true});
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> mixer_architectures() {
    std::vector<Architecture> all;
    for (const Mixer& m :
         {Mixer{"mixer_s32_224", 32, 8, 512, mixer_layer}, Mixer{"mixer_s16_224", 16, 8, 512, mixer_layer},
          Mixer{"mixer_b32_224", 32, 12, 768, mixer_layer}, Mixer{"mixer_b16_224", 16, 12, 768, mixer_layer},
          Mixer{"mixer_l32_224", 32, 24, 1024, mixer_layer}, Mixer{"mixer_l16_224", 16, 24, 1024, mixer_layer},
          Mixer{"gmlp_ti16_224", 16, 30, 128, gmlp_layer}, Mixer{"gmlp_s16_224", 16, 30, 256, gmlp_layer},
          Mixer{"gmlp_b16_224", 16, 30, 512, gmlp_layer}, Mixer{"gmixer_12_224", 16, 12, 384, gmixer_layer},
          Mixer{"gmixer_24_224", 16, 24, 384, gmixer_layer}, Mixer{"resmlp_12_224", 16, 12, 384, resmlp_layer, false},
          Mixer{"resmlp_24_224", 16, 24, 384, resmlp_layer, false}, Mixer{"resmlp_36_224", 16, 36, 384, resmlp_layer, false},
          Mixer{"resmlp_big_24_224", 8, 24, 768, resmlp_layer, false}})
        all.push_back({{m.name}, [m](NetworkBuilder& n, std::int64_t classes) { build_mixer(n, m, classes); }});
    for (const ConvMixer& m : {ConvMixer{"convmixer_768_32", 768, 32, 7, 7, PointwiseKind::relu},
                               ConvMixer{"convmixer_1024_20_ks9_p14", 1024, 20, 9, 14}, ConvMixer{"convmixer_1536_20", 1536, 20, 9, 7}})
        all.push_back({{m.name}, [m](NetworkBuilder& n, std::int64_t classes) { build_convmixer(n, m, classes); }});
    return all;
}

}  // namespace sextant
