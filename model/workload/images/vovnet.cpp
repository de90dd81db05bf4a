// VoVNet (Lee et al., arXiv 1904.09730, figure 2 and table 1): each module concatenates what its convolutions in a row made once, at its
// end. And VoVNetV2 (arXiv 1911.06667, section 3.2): modules are residuals, and the last of a stage weighs its channels.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct VovNetwork {
    std::vector<std::string> names;
    int layers;                  // of a module
    std::array<int, 4> modules;  // per stage
    bool second = true;          // VoVNetV2
    bool depthwise = false;      // filters each channel by itself, and mixes them by a 1x1
};

Image vov_layer(Layers& l, const std::string& name, Image x, std::int64_t channels, std::int64_t stride, bool depthwise) {
    if (!depthwise) return l.conv_norm_relu(name, x, {.out_channels = channels, .kernel = 3, .stride = stride});
    x = l.conv(name + ".depthwise", x, {.out_channels = x.channels, .kernel = 3, .stride = stride, .groups = x.channels});
    return l.conv_norm_relu(name, x, {.out_channels = channels});
}

Image vov_module(Layers& l, Image x, std::int64_t inner, std::int64_t channels, bool first, bool last, const VovNetwork& v) {
    std::vector<Image> made{x};
    Image y = x;
    if (v.depthwise && y.channels != inner) y = l.conv_norm_relu("reduce", y, {.out_channels = inner});
    for (int i = 0; i < v.layers; ++i) made.push_back(y = vov_layer(l, "conv" + std::to_string(i + 1), y, inner, 1, v.depthwise));
    y = l.conv_norm_relu("mix", l.concatenate(made), {.out_channels = channels});
    if (!v.second) return y;
    if (last)
        y = l.gate("gate", y,
                   l.activation(l.conv("weigh", l.global_pool(y), {.out_channels = channels, .bias = true}), PointwiseKind::sigmoid));
    return first ? y : l.add("add", y, x);
}

void build_vovnet(NetworkBuilder& network, const VovNetwork& v, std::int64_t classes) {
    constexpr std::array<std::int64_t, 4> inner{128, 160, 192, 224}, channels{256, 512, 768, 1024};
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = vov_layer(l, "conv1", x, 64, 2, false);
        x = vov_layer(l, "conv2", x, 64, 1, v.depthwise);
        return vov_layer(l, "conv3", x, v.depthwise ? 64 : 128, 2, v.depthwise);
    });
    for (std::size_t stage = 0; stage < inner.size(); ++stage)
        for (int i = 0; i < v.modules[stage]; ++i) {
            const bool first = i == 0, last = i + 1 == v.modules[stage];
            network.block("stage " + std::to_string(stage + 2) + (last ? " last module" : " module"), BlockRole::layer,
                          [&](Layers& l, Image x) {
                              if (stage > 0 && first) x = l.pool("pool", x, {.kernel = 3, .stride = 2, .round_up = true});
                              return vov_module(l, x, inner[stage], channels[stage], first, last, v);
                          });
        }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> vovnet_architectures() {
    const std::vector<VovNetwork> networks{
        {.names = {"vovnet39a", "vovnet39"}, .layers = 5, .modules = {1, 1, 2, 2}, .second = false},
        {.names = {"vovnet57a", "vovnet57"}, .layers = 5, .modules = {1, 1, 4, 3}, .second = false},
        {.names = {"ese_vovnet19b_dw"}, .layers = 3, .modules = {1, 1, 1, 1}, .depthwise = true},
        {.names = {"ese_vovnet39b"}, .layers = 5, .modules = {1, 1, 2, 2}},
        {.names = {"ese_vovnet57b"}, .layers = 5, .modules = {1, 1, 4, 3}},
    };
    std::vector<Architecture> all;
    for (const VovNetwork& v : networks)
        all.push_back({v.names, [v](NetworkBuilder& n, std::int64_t classes) { build_vovnet(n, v, classes); }});
    return all;
}

}  // namespace sextant
