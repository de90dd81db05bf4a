// Vision transformers whose last layers are of a learned vector that attends to the patches, which stay as they are. CaiT (Touvron et al.,
// arXiv 2103.17239) mixes the scores of all heads in the layers before; in XCiT (El-Nouby et al., arXiv 2106.09681) channels attend to each
// other, and patches are filtered. Both scale what their layers add.
#include "model/workload/images/families.hpp"

#include <vector>

namespace sextant {

Image Layers::fourier_positions(Image x, std::int64_t waves) {
    x = whole(x);
    constexpr const char* what = "sinusoids of both coordinates";
    const std::int64_t pixels = x.height * x.width;
    const TensorId table = write("sinusoids", Pointwise{PointwiseKind::copy, static_cast<double>(pixels * waves)}, {}, {pixels, waves});
    graph_.stands_for(what);
    const Gemm product{.m = pixels, .n = x.channels, .k = waves};
    const TensorId positions = write("positions", product, {table}, {pixels, x.channels}, static_cast<double>(x.channels * (waves + 1)));
    graph_.stands_for(what);
    return standing_for(what, emit("positions.add", Pointwise{PointwiseKind::add, elements_here(x)}, {x.id, positions}, x));
}

namespace {

struct ClassAttention {
    const char* name;
    int layers;
    std::int64_t channels, heads, image_px = 224, patch_px = 16;
    bool norms_all = true;  // in class layers of XCiT: the patches, too
};

Image class_norm(Layers& l, const std::string& name, Image x) { return l.norm(name, x, NormKind::layer); }

Image add_scaled(Layers& l, const std::string& name, Image x, Image y) { return l.add(name + ".add", x, l.scale(name + ".scale", y)); }

Image cait_layer(Layers& l, Image x, const ClassAttention& c) {
    x = add_scaled(l, "attention", x, l.attention(class_norm(l, "norm1", x), {.heads = c.heads, .mixes_heads = true}));
    return add_scaled(l, "mlp", x, l.perceptron(class_norm(l, "norm2", x), 4 * x.channels));
}

void build_cait(NetworkBuilder& network, const ClassAttention& c, std::int64_t classes) {
    network.block("patches", BlockRole::input, [&](Layers& l, Image x) {
        x = l.conv("patches", x, {.out_channels = c.channels, .kernel = c.patch_px, .stride = c.patch_px, .padding = 0, .bias = true});
        return l.positions(x, x.height * x.width);
    });
    for (int i = 0; i < c.layers; ++i) network.block("layer", BlockRole::layer, [&](Layers& l, Image x) { return cait_layer(l, x, c); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        Image token = l.learned_query(x);
        for (const std::string layer : {"class1.", "class2."}) {
            const Image all = class_norm(l, layer + "norm1", l.join(token, x));
            token = add_scaled(l, layer + "attention", token, l.attention(l.first_tokens(all), {.heads = c.heads, .of = all}));
            token = add_scaled(l, layer + "mlp", token, l.perceptron(class_norm(l, layer + "norm2", token), 4 * c.channels, layer));
        }
        return l.classifier(l.first_tokens(class_norm(l, "norm", l.join(token, x))), classes);
    });
}

Image xcit_stem(Layers& l, Image x, const ClassAttention& c) {
    for (std::int64_t part = c.patch_px / 2; part > 0; part /= 2) {
        x = l.conv_norm("conv" + std::to_string(part), x, {.out_channels = c.channels / part, .kernel = 3, .stride = 2});
        if (part > 1) x = l.activation(x, PointwiseKind::gelu);
    }
    return l.fourier_positions(x, 64);
}

Image xcit_layer(Layers& l, Image x, const ClassAttention& c) {
    const ConvLayer filter{.out_channels = c.channels, .kernel = 3, .groups = c.channels, .bias = true};
    x = add_scaled(l, "attention", x, l.channel_attention(class_norm(l, "norm1", x), c.heads));
    const Image y = l.activation(l.conv("filter1", class_norm(l, "norm3", x), filter), PointwiseKind::gelu);
    x = add_scaled(l, "filters", x, l.conv("filter2", l.norm("filter.bn", y), filter));
    return add_scaled(l, "mlp", x, l.perceptron(class_norm(l, "norm2", x), 4 * x.channels));
}

Image xcit_class_layer(Layers& l, Image x, const ClassAttention& c, const std::string& layer) {
    const Image all = class_norm(l, layer + "norm1", x);
    const Image token = l.attention(l.first_tokens(all), {.heads = c.heads, .of = all});
    x = add_scaled(l, layer + "attention", x, l.join(token, other_tokens(all)));
    x = c.norms_all ? class_norm(l, layer + "norm2", x) : l.join(class_norm(l, layer + "norm2", l.first_tokens(x)), other_tokens(x));
    const Image made = l.scale(layer + "mlp.scale", l.perceptron(l.first_tokens(x), 4 * c.channels, layer));
    return l.add(layer + "mlp.add", x, l.join(made, other_tokens(x)));
}

void build_xcit(NetworkBuilder& network, const ClassAttention& c, std::int64_t classes) {
    network.block("patches", BlockRole::input, [&](Layers& l, Image x) { return xcit_stem(l, x, c); });
    for (int i = 0; i < c.layers; ++i) network.block("layer", BlockRole::layer, [&](Layers& l, Image x) { return xcit_layer(l, x, c); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.prepend(x, 1);
        for (const std::string layer : {"class1.", "class2."}) x = xcit_class_layer(l, x, c, layer);
        return l.classifier(l.first_tokens(class_norm(l, "norm", x)), classes);
    });
}

}  // namespace

std::vector<Architecture> class_attention_architectures() {
    std::vector<Architecture> all;
    for (const ClassAttention& c : {ClassAttention{"cait_xxs24_224", 24, 192, 4}, ClassAttention{"cait_xxs24_384", 24, 192, 4, 384},
                                    ClassAttention{"cait_xxs36_224", 36, 192, 4}, ClassAttention{"cait_xxs36_384", 36, 192, 4, 384},
                                    ClassAttention{"cait_xs24_384", 24, 288, 6, 384}, ClassAttention{"cait_s24_224", 24, 384, 8},
                                    ClassAttention{"cait_s24_384", 24, 384, 8, 384}, ClassAttention{"cait_s36_384", 36, 384, 8, 384},
                                    ClassAttention{"cait_m36_384", 36, 768, 16, 384}, ClassAttention{"cait_m48_448", 48, 768, 16, 448}})
        all.push_back({{c.name}, [c](NetworkBuilder& n, std::int64_t classes) { build_cait(n, c, classes); }, c.image_px});
    struct Size {
        const char* name;
        int layers;
        std::int64_t channels, heads;
    };
    for (const Size& s :
         {Size{"nano_12", 12, 128, 4}, Size{"tiny_12", 12, 192, 4}, Size{"small_12", 12, 384, 8}, Size{"tiny_24", 24, 192, 4},
          Size{"small_24", 24, 384, 8}, Size{"medium_24", 24, 512, 8}, Size{"large_24", 24, 768, 16}})
        for (const std::int64_t patch_px : {16, 8})
            for (const std::int64_t px : {224, 384}) {
                const std::string name = std::string("xcit_") + s.name + "_p" + std::to_string(patch_px) + '_' + std::to_string(px);
                const ClassAttention c{"", s.layers, s.channels, s.heads, px, patch_px, s.channels != 128};
                all.push_back({{name}, [c](NetworkBuilder& n, std::int64_t classes) { build_xcit(n, c, classes); }, px});
            }
    return all;
}

}  // namespace sextant
