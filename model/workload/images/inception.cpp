// GoogLeNet (Szegedy et al., arXiv 1409.4842), Inception v3 (arXiv 1512.00567), v4 and Inception-ResNet v2 (arXiv 1602.07261).
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

using Branch = std::vector<ConvLayer>;

// A convolution, its normalization where the network has one, and its activation.
Image unit(Layers& l, const std::string& name, Image x, ConvLayer c) {
    x = l.conv(name, x, c);
    if (!c.bias) x = l.norm(name + ".bn", x);
    return l.relu(x);
}

Image branch(Layers& l, const std::string& name, Image x, const Branch& convolutions) {
    for (std::size_t i = 0; i < convolutions.size(); ++i) x = unit(l, name + "." + std::to_string(i + 1), x, convolutions[i]);
    return x;
}

// The stem of both networks: convolutions in a row, then a pooling.
void stem(NetworkBuilder& network, const std::string& name, BlockRole role, const Branch& convolutions, PoolLayer pool) {
    network.block(name, role, [&](Layers& l, Image x) { return l.pool(name + ".pool", branch(l, name, x, convolutions), pool); });
}

// GoogLeNet's module: 1x1; 1x1 and 3x3; 1x1 and a larger one; max pooling and 1x1.
struct GoogleModule {
    const char* name;
    std::int64_t one, reduce3, three, reduce5, five, pool;
    std::int64_t pool_before = 0;  // window of a max pooling with stride 2 in front of the module; 0: none
};

// torchvision's form has batch norms, and 3x3 where the paper has 5x5; the paper's has biases. The two networks that the paper trains
// beside the main one (auxiliary classifiers) and its local response normalizations are left out of both.
void build_googlenet(NetworkBuilder& network, bool as_in_paper, std::int64_t classes) {
    const bool bias = as_in_paper;
    const auto pool = [](std::int64_t window) { return PoolLayer{.kernel = window, .stride = 2, .round_up = true}; };
    stem(network, "stem", BlockRole::input, {{.out_channels = 64, .kernel = 7, .stride = 2, .bias = bias}}, pool(3));
    stem(network, "stem 2", BlockRole::layer, {{.out_channels = 64, .bias = bias}, {.out_channels = 192, .kernel = 3, .bias = bias}},
         pool(3));

    const std::int64_t last_pool = as_in_paper ? 3 : 2;
    const std::array<GoogleModule, 9> modules{{{"inception 3a", 64, 96, 128, 16, 32, 32},
                                               {"inception 3b", 128, 128, 192, 32, 96, 64},
                                               {"inception 4a", 192, 96, 208, 16, 48, 64, 3},
                                               {"inception 4b", 160, 112, 224, 24, 64, 64},
                                               {"inception 4c", 128, 128, 256, 24, 64, 64},
                                               {"inception 4d", 112, 144, 288, 32, 64, 64},
                                               {"inception 4e", 256, 160, 320, 32, 128, 128},
                                               {"inception 5a", 256, 160, 320, 32, 128, 128, last_pool},
                                               {"inception 5b", 384, 192, 384, 48, 128, 128}}};
    for (const GoogleModule& m : modules)
        network.block(m.name, BlockRole::layer, [&](Layers& l, Image x) {
            if (m.pool_before > 0) x = l.pool("pool before", x, pool(m.pool_before));
            const Image pooled = l.pool("pool", x, {.kernel = 3, .stride = 1, .padding = 1, .round_up = true});
            const std::int64_t large = as_in_paper ? 5 : 3;
            return l.concatenate(
                {unit(l, "1x1", x, {.out_channels = m.one, .bias = bias}),
                 branch(l, "3x3", x, {{.out_channels = m.reduce3, .bias = bias}, {.out_channels = m.three, .kernel = 3, .bias = bias}}),
                 branch(l, "5x5", x, {{.out_channels = m.reduce5, .bias = bias}, {.out_channels = m.five, .kernel = large, .bias = bias}}),
                 unit(l, "pool.1x1", pooled, {.out_channels = m.pool, .bias = bias})});
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.dropout(l.global_pool(x)), classes); });
}

constexpr PoolLayer shrink{.kernel = 3, .stride = 2};

ConvLayer conv(std::int64_t out, std::int64_t kernel_h = 1, std::int64_t kernel_w = 0) {
    return {.out_channels = out, .kernel = kernel_h, .kernel_w = kernel_w > 0 ? std::optional(kernel_w) : std::nullopt};
}
ConvLayer unpadded(std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    return {.out_channels = out, .kernel = kernel, .stride = stride, .padding = 0};
}

Image average_pooled(Layers& l, Image x) {
    return l.pool("pool", x, {.kind = PoolingKind::average, .kernel = 3, .stride = 1, .padding = 1});
}

// The letters of the modules are those of torchvision: 35, 17 and 8 pixels at 299 px, with reductions between.
Image module_a(Layers& l, Image x, std::int64_t one, std::int64_t pool_channels) {
    return l.concatenate({unit(l, "1x1", x, conv(one)), branch(l, "5x5", x, {conv(48), conv(64, 5)}),
                          branch(l, "3x3 twice", x, {conv(64), conv(96, 3), conv(96, 3)}),
                          unit(l, "pool.1x1", average_pooled(l, x), conv(pool_channels))});
}

Image module_b(Layers& l, Image x) {
    return l.concatenate({unit(l, "3x3", x, unpadded(384, 3, 2)), branch(l, "3x3 twice", x, {conv(64), conv(96, 3), unpadded(96, 3, 2)}),
                          l.pool("pool", x, shrink)});
}

Image module_c(Layers& l, Image x, std::int64_t narrow) {
    return l.concatenate(
        {unit(l, "1x1", x, conv(192)), branch(l, "7x7", x, {conv(narrow), conv(narrow, 1, 7), conv(192, 7, 1)}),
         branch(l, "7x7 twice", x, {conv(narrow), conv(narrow, 7, 1), conv(narrow, 1, 7), conv(narrow, 7, 1), conv(192, 1, 7)}),
         unit(l, "pool.1x1", average_pooled(l, x), conv(192))});
}

Image module_d(Layers& l, Image x) {
    return l.concatenate({branch(l, "3x3", x, {conv(192), unpadded(320, 3, 2)}),
                          branch(l, "7x7", x, {conv(192), conv(192, 1, 7), conv(192, 7, 1), unpadded(192, 3, 2)}),
                          l.pool("pool", x, shrink)});
}

Image forked(Layers& l, const std::string& name, Image x, std::int64_t channels) {
    return l.concatenate({unit(l, name + ".1x3", x, conv(channels, 1, 3)), unit(l, name + ".3x1", x, conv(channels, 3, 1))});
}

Image module_e(Layers& l, Image x) {
    return l.concatenate({unit(l, "1x1", x, conv(320)), forked(l, "3x3", unit(l, "3x3", x, conv(384)), 384),
                          forked(l, "3x3 twice", branch(l, "3x3 twice", x, {conv(448), conv(384, 3)}), 384),
                          unit(l, "pool.1x1", average_pooled(l, x), conv(192))});
}

// The auxiliary classifier, which exists in training only. Its loss leaves nothing for the blocks behind.
void auxiliary_classifier(Layers& l, Image x, std::int64_t classes) {
    x = l.pool("auxiliary.pool", x, {.kind = PoolingKind::average, .kernel = 5, .stride = 3});
    x = branch(l, "auxiliary", x, {conv(128), unpadded(768, 5, 1)});
    l.classifier(l.global_pool(x), classes);
}

void v3_stem(NetworkBuilder& network) {
    stem(network, "stem", BlockRole::input, {unpadded(32, 3, 2), unpadded(32, 3, 1), conv(64, 3)}, shrink);
    stem(network, "stem 2", BlockRole::layer, {conv(80), unpadded(192, 3, 1)}, shrink);
}

void build_inception_v3(NetworkBuilder& network, bool auxiliary, std::int64_t classes) {
    v3_stem(network);
    const auto layer = [&](const std::string& name, const NetworkBuilder::Body& body) { network.block(name, BlockRole::layer, body); };
    layer("inception 5b", [](Layers& l, Image x) { return module_a(l, x, 64, 32); });
    layer("inception 5c", [](Layers& l, Image x) { return module_a(l, x, 64, 64); });
    layer("inception 5d", [](Layers& l, Image x) { return module_a(l, x, 64, 64); });
    layer("reduction 6a", module_b);
    for (const std::int64_t narrow : {128, 160, 160, 192})
        layer("inception 6, width " + std::to_string(narrow), [&](Layers& l, Image x) { return module_c(l, x, narrow); });
    layer("reduction 7a", [&](Layers& l, Image x) {
        if (auxiliary && l.training()) auxiliary_classifier(l, x, classes);
        return module_d(l, x);
    });
    layer("inception 7b", module_e);
    layer("inception 7c", module_e);
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.dropout(l.global_pool(x)), classes); });
}

// ---- Inception v4: figures 3 to 8 of arXiv 1602.07261

Image v4_stem(Layers& l, Image x) {
    x = branch(l, "conv", x, {unpadded(32, 3, 2), unpadded(32, 3, 1), conv(64, 3)});
    x = l.concatenate({l.pool("pool 1", x, shrink), unit(l, "3x3", x, unpadded(96, 3, 2))});
    x = l.concatenate({branch(l, "short", x, {conv(64), unpadded(96, 3, 1)}),
                       branch(l, "long", x, {conv(64), conv(64, 1, 7), conv(64, 7, 1), unpadded(96, 3, 1)})});
    return l.concatenate({unit(l, "3x3 last", x, unpadded(192, 3, 2)), l.pool("pool 2", x, shrink)});
}

Image v4_module_a(Layers& l, Image x) {
    return l.concatenate({unit(l, "1x1", x, conv(96)), branch(l, "3x3", x, {conv(64), conv(96, 3)}),
                          branch(l, "3x3 twice", x, {conv(64), conv(96, 3), conv(96, 3)}),
                          unit(l, "pool.1x1", average_pooled(l, x), conv(96))});
}

// Figure 7: k, l and m.
Image reduction_a(Layers& l, Image x, std::array<std::int64_t, 3> widths) {
    const auto [first, second, third] = widths;
    return l.concatenate({unit(l, "3x3", x, unpadded(384, 3, 2)),
                          branch(l, "3x3 twice", x, {conv(first), conv(second, 3), unpadded(third, 3, 2)}), l.pool("pool", x, shrink)});
}

Image v4_module_b(Layers& l, Image x) {
    return l.concatenate({unit(l, "1x1", x, conv(384)), branch(l, "7x7", x, {conv(192), conv(224, 1, 7), conv(256, 7, 1)}),
                          branch(l, "7x7 twice", x, {conv(192), conv(192, 7, 1), conv(224, 1, 7), conv(224, 7, 1), conv(256, 1, 7)}),
                          unit(l, "pool.1x1", average_pooled(l, x), conv(128))});
}

Image v4_reduction_b(Layers& l, Image x) {
    return l.concatenate({branch(l, "3x3", x, {conv(192), unpadded(192, 3, 2)}),
                          branch(l, "7x7", x, {conv(256), conv(256, 1, 7), conv(320, 7, 1), unpadded(320, 3, 2)}),
                          l.pool("pool", x, shrink)});
}

Image v4_module_c(Layers& l, Image x) {
    return l.concatenate({unit(l, "1x1", x, conv(256)), forked(l, "3x3", unit(l, "3x3", x, conv(384)), 256),
                          forked(l, "3x3 twice", branch(l, "3x3 twice", x, {conv(384), conv(448, 3, 1), conv(512, 1, 3)}), 256),
                          unit(l, "pool.1x1", average_pooled(l, x), conv(256))});
}

void build_inception_v4(NetworkBuilder& network, std::int64_t classes) {
    const auto layers = [&](int count, const std::string& name, const NetworkBuilder::Body& body) {
        for (int i = 0; i < count; ++i) network.block(name, BlockRole::layer, body);
    };
    network.block("stem", BlockRole::input, v4_stem);
    layers(4, "inception a", v4_module_a);
    layers(1, "reduction a", [](Layers& l, Image x) { return reduction_a(l, x, {192, 224, 256}); });
    layers(7, "inception b", v4_module_b);
    layers(1, "reduction b", v4_reduction_b);
    layers(3, "inception c", v4_module_c);
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.dropout(l.global_pool(x)), classes); });
}

// ---- Inception-ResNet v2: figures 15 to 19 of the same paper, with the stem and the first module of Inception v3 as its authors released
// it; what a residual adds is made smaller (section 3.3).

Image scaled_residual(Layers& l, Image x, const std::vector<Branch>& branches, double factor, bool activates = true) {
    std::vector<Image> made;
    for (std::size_t i = 0; i < branches.size(); ++i) made.push_back(branch(l, "branch " + std::to_string(i + 1), x, branches[i]));
    const Image y = l.conv("mix", l.concatenate(made), {.out_channels = x.channels, .bias = true});
    const Image sum = l.add("add", l.times(y, factor), x);
    return activates ? l.relu(sum) : sum;
}

Image inception_residual_c(Layers& l, Image x, double factor, bool activates) {
    return scaled_residual(l, x, {{conv(192)}, {conv(192), conv(224, 1, 3), conv(256, 3, 1)}}, factor, activates);
}

void build_inception_resnet_v2(NetworkBuilder& network, std::int64_t classes) {
    v3_stem(network);
    const auto layers = [&](int count, const std::string& name, const NetworkBuilder::Body& body) {
        for (int i = 0; i < count; ++i) network.block(name, BlockRole::layer, body);
    };
    layers(1, "inception 5b", [](Layers& l, Image x) { return module_a(l, x, 96, 64); });
    layers(10, "inception residual a", [](Layers& l, Image x) {
        return scaled_residual(l, x, {{conv(32)}, {conv(32), conv(32, 3)}, {conv(32), conv(48, 3), conv(64, 3)}}, 0.17);
    });
    layers(1, "reduction a", [](Layers& l, Image x) { return reduction_a(l, x, {256, 256, 384}); });
    layers(20, "inception residual b", [](Layers& l, Image x) {
        return scaled_residual(l, x, {{conv(192)}, {conv(128), conv(160, 1, 7), conv(192, 7, 1)}}, 0.1);
    });
    layers(1, "reduction b", [](Layers& l, Image x) {
        return l.concatenate({branch(l, "3x3", x, {conv(256), unpadded(384, 3, 2)}),
                              branch(l, "3x3 narrow", x, {conv(256), unpadded(288, 3, 2)}),
                              branch(l, "3x3 twice", x, {conv(256), conv(288, 3), unpadded(320, 3, 2)}), l.pool("pool", x, shrink)});
    });
    layers(9, "inception residual c", [](Layers& l, Image x) { return inception_residual_c(l, x, 0.2, true); });
    layers(1, "last inception residual", [](Layers& l, Image x) { return inception_residual_c(l, x, 1, false); });
    network.block("head", BlockRole::head,
                  [&](Layers& l, Image x) { return l.classifier(l.dropout(l.global_pool(unit(l, "conv", x, conv(1536))), 0.2), classes); });
}

}  // namespace

std::vector<Architecture> inception_architectures() {
    constexpr std::int64_t image_px = 299;  // arXiv 1512.00567, table 1, and arXiv 1602.07261, figure 3
    return {
        {{"googlenet"}, [](NetworkBuilder& n, std::int64_t classes) { build_googlenet(n, false, classes); }},
        {{"inceptionv1"}, [](NetworkBuilder& n, std::int64_t classes) { build_googlenet(n, true, classes); }},
        {{"inception_v3", "inceptionv3", "inception3"},
         [](NetworkBuilder& n, std::int64_t classes) { build_inception_v3(n, false, classes); },
         image_px},
        {{"inception_v3_aux"}, [](NetworkBuilder& n, std::int64_t classes) { build_inception_v3(n, true, classes); }, image_px},
        {{"inception_v4", "inceptionv4", "inception4"}, build_inception_v4, image_px},
        {{"inception_resnet_v2", "inceptionresnetv2"}, build_inception_resnet_v2, image_px},
    };
}

}  // namespace sextant
