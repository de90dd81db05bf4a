// AlexNet in its one-column form (Krizhevsky, arXiv 1404.5997), VGG (Simonyan and Zisserman, arXiv 1409.1556) and SqueezeNet (Iandola et
// al., arXiv 1602.07360).
#include "model/workload/images/families.hpp"

#include <algorithm>
#include <array>

namespace sextant {
namespace {

struct FullyConnected {
    std::int64_t pooled_px;  // the image is pooled to this size before it is flattened
    bool dropout_first;      // AlexNet drops before each of the first two layers, VGG after them
};

void fully_connected_layers(NetworkBuilder& network, const FullyConnected& f, std::int64_t classes) {
    network.block("fc1", BlockRole::layer, [&](Layers& l, Image x) {
        x = flatten(l.average_pool_to(x, f.pooled_px));
        return l.dropout(l.relu(l.linear("fc1", f.dropout_first ? l.dropout(x) : x, 4096)));
    });
    network.block("fc2", BlockRole::layer, [&](Layers& l, Image x) {
        x = l.relu(l.linear("fc2", x, 4096));
        return f.dropout_first ? x : l.dropout(x);
    });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(x, classes); });
}

void build_alexnet(NetworkBuilder& network, std::int64_t classes) {
    const auto layer = [&](const char* name, ConvLayer conv, bool pooled) {
        conv.bias = true;
        const bool first = conv.stride > 1;
        network.block(name, first ? BlockRole::input : BlockRole::layer, [&](Layers& l, Image x) {
            x = l.relu(l.conv(name, x, conv));
            return pooled ? l.pool("pool", x, {.kernel = 3, .stride = 2}) : x;
        });
    };
    layer("conv1", {.out_channels = 64, .kernel = 11, .stride = 4, .padding = 2}, true);
    layer("conv2", {.out_channels = 192, .kernel = 5}, true);
    layer("conv3", {.out_channels = 384, .kernel = 3}, false);
    layer("conv4", {.out_channels = 256, .kernel = 3}, false);
    layer("conv5", {.out_channels = 256, .kernel = 3}, true);
    fully_connected_layers(network, {.pooled_px = 6, .dropout_first = true}, classes);
}

struct Vgg {
    const char* name;
    std::array<int, 5> convolutions;  // per stage
};

void build_vgg(NetworkBuilder& network, const Vgg& vgg, bool batch_norm, std::int64_t classes) {
    constexpr std::array<std::int64_t, 5> channels{64, 128, 256, 512, 512};
    for (std::size_t stage = 0; stage < channels.size(); ++stage)
        for (int i = 0; i < vgg.convolutions[stage]; ++i) {
            const bool first = stage == 0 && i == 0, last = i + 1 == vgg.convolutions[stage];
            network.block("stage " + std::to_string(stage + 1) + " convolution" + (last ? " and pooling" : ""),
                          first ? BlockRole::input : BlockRole::layer, [&](Layers& l, Image x) {
                              x = l.conv("conv", x, {.out_channels = channels[stage], .kernel = 3, .bias = true});
                              x = l.relu(batch_norm ? l.norm("bn", x) : x);
                              return last ? l.pool("pool", x, {.kernel = 2, .stride = 2}) : x;
                          });
        }
    fully_connected_layers(network, {.pooled_px = 7, .dropout_first = false}, classes);
}

// A fire module squeezes by a 1x1 and expands by a 1x1 beside a 3x3; some are followed by a pooling.
struct SqueezeNet {
    const char* name;
    ConvLayer stem;
    std::array<int, 2> pooled;  // behind these fire modules, counted from 1
};

void build_squeezenet(NetworkBuilder& network, const SqueezeNet& s, std::int64_t classes) {
    constexpr PoolLayer pool{.kernel = 3, .stride = 2, .round_up = true};
    constexpr std::array<std::int64_t, 8> squeezed{16, 16, 32, 32, 48, 48, 64, 64};
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) { return l.pool("pool", l.relu(l.conv("conv", x, s.stem)), pool); });
    for (std::size_t i = 0; i < squeezed.size(); ++i) {
        const bool pools = std::ranges::find(s.pooled, static_cast<int>(i) + 1) != s.pooled.end(), last = i + 1 == squeezed.size();
        const std::int64_t wide = 4 * squeezed[i];
        network.block("fire " + std::to_string(squeezed[i]) +
                          (pools  ? " and pooling"
                           : last ? " and dropout"
                                  : ""),
                      BlockRole::layer, [&](Layers& l, Image x) {
                          x = l.relu(l.conv("squeeze", x, {.out_channels = squeezed[i], .bias = true}));
                          x = l.concatenate({l.relu(l.conv("expand1x1", x, {.out_channels = wide, .bias = true})),
                                             l.relu(l.conv("expand3x3", x, {.out_channels = wide, .kernel = 3, .bias = true}))});
                          return pools ? l.pool("pool", x, pool) : last ? l.dropout(x) : x;
                      });
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        return l.loss(flatten(l.global_pool(l.relu(l.conv("conv", x, {.out_channels = classes, .bias = true})))));
    });
}

}  // namespace

std::vector<Architecture> plain_architectures() {
    std::vector<Architecture> all{{{"alexnet"}, build_alexnet}};
    for (const SqueezeNet& s :
         {SqueezeNet{"squeezenet1_0", {.out_channels = 96, .kernel = 7, .stride = 2, .padding = 0, .bias = true}, {3, 7}},
          SqueezeNet{"squeezenet1_1", {.out_channels = 64, .kernel = 3, .stride = 2, .padding = 0, .bias = true}, {2, 4}}})
        all.push_back({{s.name}, [s](NetworkBuilder& n, std::int64_t classes) { build_squeezenet(n, s, classes); }});
    for (const Vgg& vgg :
         {Vgg{"vgg11", {1, 1, 2, 2, 2}}, Vgg{"vgg13", {2, 2, 2, 2, 2}}, Vgg{"vgg16", {2, 2, 3, 3, 3}}, Vgg{"vgg19", {2, 2, 4, 4, 4}}}) {
        all.push_back({{vgg.name}, [vgg](NetworkBuilder& n, std::int64_t classes) { build_vgg(n, vgg, false, classes); }});
        all.push_back(
            {{vgg.name + std::string("_bn")}, [vgg](NetworkBuilder& n, std::int64_t classes) { build_vgg(n, vgg, true, classes); }});
    }
    return all;
}

}  // namespace sextant
