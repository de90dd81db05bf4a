// AlexNet in its one-column form (Krizhevsky, arXiv 1404.5997) and VGG (Simonyan and Zisserman, arXiv 1409.1556).
#include "model/workload/convolutional_families.hpp"

#include <array>

namespace sextant {
namespace {

constexpr PoolLayer halve{.kernel = 2, .stride = 2};

struct FullyConnected {
    std::int64_t pooled_px;  // the image is pooled to this size before it is flattened
    PoolLayer last_pool;
    bool dropout_first;  // AlexNet drops before each of the first two layers, VGG after them
};

void fully_connected_layers(NetworkBuilder& network, const FullyConnected& f, std::int64_t classes) {
    network.block("fc1", BlockRole::layer, [&](Layers& l, Image x) {
        x = flatten(l.average_pool_to(l.pool("pool", l.relu(x), f.last_pool), f.pooled_px));
        return l.linear("fc1", f.dropout_first ? l.dropout(x) : x, 4096);
    });
    network.block("fc2", BlockRole::layer, [](Layers& l, Image x) { return l.linear("fc2", l.dropout(l.relu(x)), 4096); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.relu(x);
        return l.classifier(f.dropout_first ? x : l.dropout(x), classes);
    });
}

void build_alexnet(NetworkBuilder& network, std::int64_t classes) {
    constexpr PoolLayer pool{.kernel = 3, .stride = 2};
    network.block("conv1", BlockRole::input, [](Layers& l, Image x) {
        return l.conv("conv1", x, {.out_channels = 64, .kernel = 11, .stride = 4, .padding = 2, .bias = true});
    });
    network.block("conv2", BlockRole::layer, [&](Layers& l, Image x) {
        return l.conv("conv2", l.pool("pool1", l.relu(x), pool), {.out_channels = 192, .kernel = 5, .bias = true});
    });
    network.block("conv3", BlockRole::layer, [&](Layers& l, Image x) {
        return l.conv("conv3", l.pool("pool2", l.relu(x), pool), {.out_channels = 384, .kernel = 3, .bias = true});
    });
    for (const char* name : {"conv4", "conv5"})
        network.block(name, BlockRole::layer,
                      [&](Layers& l, Image x) { return l.conv(name, l.relu(x), {.out_channels = 256, .kernel = 3, .bias = true}); });
    fully_connected_layers(network, {.pooled_px = 6, .last_pool = pool, .dropout_first = true}, classes);
}

struct Vgg {
    const char* name;
    std::array<int, 5> convolutions;  // per stage
};

void build_vgg(NetworkBuilder& network, const Vgg& vgg, bool batch_norm, std::int64_t classes) {
    constexpr std::array<std::int64_t, 5> channels{64, 128, 256, 512, 512};
    for (std::size_t stage = 0; stage < channels.size(); ++stage)
        for (int i = 0; i < vgg.convolutions[stage]; ++i) {
            const bool first = stage == 0 && i == 0;
            network.block("stage " + std::to_string(stage + 1) + " convolution", first ? BlockRole::input : BlockRole::layer,
                          [&](Layers& l, Image x) {
                              if (!first) x = l.relu(x);
                              if (!first && i == 0) x = l.pool("pool", x, halve);
                              x = l.conv("conv", x, {.out_channels = channels[stage], .kernel = 3, .bias = true});
                              return batch_norm ? l.norm("bn", x) : x;
                          });
        }
    fully_connected_layers(network, {.pooled_px = 7, .last_pool = halve, .dropout_first = false}, classes);
}

}  // namespace

std::vector<Architecture> plain_architectures() {
    std::vector<Architecture> all{{{"alexnet"}, build_alexnet}};
    for (const Vgg& vgg :
         {Vgg{"vgg11", {1, 1, 2, 2, 2}}, Vgg{"vgg13", {2, 2, 2, 2, 2}}, Vgg{"vgg16", {2, 2, 3, 3, 3}}, Vgg{"vgg19", {2, 2, 4, 4, 4}}}) {
        all.push_back({{vgg.name}, [vgg](NetworkBuilder& n, std::int64_t classes) { build_vgg(n, vgg, false, classes); }});
        all.push_back(
            {{vgg.name + std::string("_bn")}, [vgg](NetworkBuilder& n, std::int64_t classes) { build_vgg(n, vgg, true, classes); }});
    }
    return all;
}

}  // namespace sextant
