// Xception (Chollet, arXiv 1610.02357, figure 5): every module is made of separable convolutions, which filter each channel by itself and
// then mix channels by a 1x1, without an activation between the two.
#include "model/workload/convolutional_families.hpp"

namespace sextant {
namespace {

Image separable(Layers& l, const std::string& name, Image x, std::int64_t channels) {
    x = l.conv(name + ".depthwise", x, {.out_channels = x.channels, .kernel = 3, .groups = x.channels});
    return l.norm(name + ".bn", l.conv(name + ".pointwise", x, {.out_channels = channels}));
}

// A module that halves the image.
Image shrinking_module(Layers& l, Image x, bool begins_with_relu, std::int64_t inner, std::int64_t channels) {
    Image y = separable(l, "separable 1", begins_with_relu ? l.relu(x) : x, inner);
    y = separable(l, "separable 2", l.relu(y), channels);
    y = l.pool("pool", y, {.kernel = 3, .stride = 2, .padding = 1});
    return l.add("add", y, l.norm("shortcut.bn", l.conv("shortcut", x, {.out_channels = channels, .stride = 2})));
}

Image middle_module(Layers& l, Image x) {
    Image y = x;
    for (const char* name : {"separable 1", "separable 2", "separable 3"}) y = separable(l, name, l.relu(y), x.channels);
    return l.add("add", y, x);
}

// The modules are one block: each but the first begins with the ReLU of a sum that its shortcut reads as it is.
void build_xception(NetworkBuilder& network, std::int64_t classes) {
    network.block("stem", BlockRole::input, [](Layers& l, Image x) {
        x = l.relu(l.norm("bn1", l.conv("conv1", x, {.out_channels = 32, .kernel = 3, .stride = 2, .padding = 0})));
        return l.relu(l.norm("bn2", l.conv("conv2", x, {.out_channels = 64, .kernel = 3, .padding = 0})));
    });
    network.block("modules", BlockRole::layer, [](Layers& l, Image x) {
        x = shrinking_module(l, x, false, 128, 128);
        x = shrinking_module(l, x, true, 256, 256);
        x = shrinking_module(l, x, true, 728, 728);
        for (int i = 0; i < 8; ++i) x = middle_module(l, x);
        return shrinking_module(l, x, true, 728, 1024);
    });
    for (const std::int64_t channels : {1536, 2048})
        network.block("separable to " + std::to_string(channels), BlockRole::layer,
                      [&](Layers& l, Image x) { return l.relu(separable(l, "separable", x, channels)); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> xception_architectures() { return {{{"xception"}, build_xception, 299}}; }

}  // namespace sextant
