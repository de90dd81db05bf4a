// ConvNeXt (Liu et al., arXiv 2201.03545). Its 1x1 convolutions are matrix products on channels-last images, as in the authors' code.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct ConvNext {
    const char* name;
    std::array<int, 4> blocks;  // per stage
    std::int64_t channels;      // of the first stage; each later one has twice those before it
};

Image convnext_block(Layers& l, Image x) {
    x = l.whole(x);  // layer norm needs every channel
    Image y = l.conv("depthwise", x, {.out_channels = x.channels, .kernel = 7, .groups = x.channels, .bias = true});
    y = l.activation(l.linear("expand", l.norm("norm", y, NormKind::layer), 4 * x.channels), PointwiseKind::gelu);
    return l.add("add", x, l.scale("layer scale", l.linear("project", y, x.channels)));
}

void build_convnext(NetworkBuilder& network, const ConvNext& c, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = l.conv("conv", x, {.out_channels = c.channels, .kernel = 4, .stride = 4, .padding = 0, .bias = true});
        return l.norm("norm", x, NormKind::layer);
    });
    for (std::size_t stage = 0; stage < c.blocks.size(); ++stage) {
        const std::string number = std::to_string(stage + 1);
        if (stage > 0)
            network.block("downsample " + number, BlockRole::layer, [&](Layers& l, Image x) {
                return l.conv("conv", x, {.out_channels = c.channels << stage, .kernel = 2, .stride = 2, .padding = 0, .bias = true});
            });
        const bool last_stage = stage + 1 == c.blocks.size();
        const int alike = last_stage ? c.blocks[stage] : c.blocks[stage] - 1;
        for (int i = 0; i < alike; ++i) network.block("stage " + number + " block", BlockRole::layer, convnext_block);
        if (!last_stage)  // with the norm in front of the downsampling: the addition's kernel may hold it
            network.block("stage " + number + " last block", BlockRole::layer,
                          [](Layers& l, Image x) { return l.norm("downsample.norm", convnext_block(l, x), NormKind::layer); });
    }
    network.block("head", BlockRole::head,
                  [&](Layers& l, Image x) { return l.classifier(l.norm("norm", l.global_pool(x), NormKind::layer), classes); });
}

}  // namespace

std::vector<Architecture> convnext_architectures() {
    std::vector<Architecture> all;
    // The first four are timm's.
    for (const ConvNext& c : {ConvNext{"convnext_atto", {2, 2, 6, 2}, 40}, ConvNext{"convnext_femto", {2, 2, 6, 2}, 48},
                              ConvNext{"convnext_pico", {2, 2, 6, 2}, 64}, ConvNext{"convnext_nano", {2, 2, 8, 2}, 80},
                              ConvNext{"convnext_tiny", {3, 3, 9, 3}, 96}, ConvNext{"convnext_small", {3, 3, 27, 3}, 96},
                              ConvNext{"convnext_base", {3, 3, 27, 3}, 128}, ConvNext{"convnext_large", {3, 3, 27, 3}, 192},
                              ConvNext{"convnext_xlarge", {3, 3, 27, 3}, 256}})
        all.push_back({{c.name}, [c](NetworkBuilder& n, std::int64_t classes) { build_convnext(n, c, classes); }});
    return all;
}

}  // namespace sextant
