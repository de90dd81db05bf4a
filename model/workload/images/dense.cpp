// DenseNet (Huang et al., arXiv 1608.06993): every layer reads the outputs of all before it in its stage.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct DenseNetwork {
    const char* name;
    std::int64_t stem_channels, growth;
    std::array<int, 4> layers;  // per stage
};

// As the authors' code and torchvision's first had it. Where each layer puts all that came before together anew, as in timm today, as many
// elements are added up backward, by more kernels.
Image dense_layer(Layers& l, Image x, std::int64_t growth) {
    const Image bottleneck = l.norm_relu_conv("conv1", x, {.out_channels = 4 * growth});
    return l.concatenate({x, l.norm_relu_conv("conv2", bottleneck, {.out_channels = growth, .kernel = 3})});
}

void build_dense(NetworkBuilder& network, const DenseNetwork& d, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = l.relu(l.norm("bn", l.conv("conv", x, {.out_channels = d.stem_channels, .kernel = 7, .stride = 2})));
        return l.pool("pool", x, {.kernel = 3, .stride = 2, .padding = 1});
    });
    for (std::size_t stage = 0; stage < d.layers.size(); ++stage) {
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            for (int i = 0; i < d.layers[stage]; ++i) x = dense_layer(l, x, d.growth);
            if (stage + 1 == d.layers.size()) return l.relu(l.norm("bn", x));
            x = l.norm_relu_conv("transition", x, {.out_channels = x.channels / 2});
            return l.pool("transition.pool", x, {.kind = PoolingKind::average, .kernel = 2, .stride = 2});
        });
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> dense_architectures() {
    std::vector<Architecture> all;
    for (const DenseNetwork& d :
         {DenseNetwork{"densenet121", 64, 32, {6, 12, 24, 16}}, DenseNetwork{"densenet161", 96, 48, {6, 12, 36, 24}},
          DenseNetwork{"densenet169", 64, 32, {6, 12, 32, 32}}, DenseNetwork{"densenet201", 64, 32, {6, 12, 48, 32}}})
        all.push_back({{d.name}, [d](NetworkBuilder& n, std::int64_t classes) { build_dense(n, d, classes); }});
    return all;
}

}  // namespace sextant
