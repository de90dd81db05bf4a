// ConvNeXt (Liu et al., arXiv 2201.03545) and ConvNeXt V2 (Woo et al., arXiv 2301.00808), which normalizes what each channel of the wide
// image answers. Their 1x1 convolutions are matrix products on channels-last images, as in the authors' code.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

enum class ConvNextStem { patches, overlapping, tiered };  // the latter two: two convolutions of 3x3, to as many channels or half first
enum class ConvNextHead { pool_first, norm_first, hidden };

struct ConvNext {
    const char* name;
    std::array<int, 4> blocks;  // per stage
    std::int64_t channels;      // of the first stage; each later one has twice those before it
    int version = 1;
    ConvNextStem stem = ConvNextStem::patches;
    ConvNextHead head = ConvNextHead::pool_first;
    std::int64_t image_px = 224;
};

// Each channel by how long its image is as a vector, over the mean of all (section 3 there): scaled, shifted and added.
Image response_norm(Layers& l, Image x) {
    x = l.whole(x);
    const Image length = l.standing_for("norms of whole channels", l.global_pool(x));
    const Image relative = l.norm_without_weights("response", length);
    return l.add("response.add", x, l.scale_and_shift("response.scale", l.gate("response.gate", x, relative)));
}

// Those smaller than the first authors', as timm has them, have convolutions of single pixels where the others have products.
bool has_pixel_convolutions(const ConvNext& c) { return c.channels < 96 || c.head == ConvNextHead::norm_first; }

Image convnext_block(Layers& l, Image x, const ConvNext& c) {
    x = l.whole(x);  // layer norm needs every channel
    const auto of_pixels = [&](const std::string& name, Image from, std::int64_t out) {
        return has_pixel_convolutions(c) ? l.conv(name, from, {.out_channels = out, .bias = true}) : l.linear(name, from, out);
    };
    Image y = l.conv("depthwise", x, {.out_channels = x.channels, .kernel = 7, .groups = x.channels, .bias = true});
    y = l.activation(of_pixels("expand", l.norm("norm", y, NormKind::layer), 4 * x.channels), PointwiseKind::gelu);
    if (c.version == 2) y = response_norm(l, y);
    y = of_pixels("project", y, x.channels);
    return l.add("add", x, c.version == 1 ? l.scale("layer scale", y) : y);
}

Image convnext_stem(Layers& l, Image x, const ConvNext& c) {
    if (c.stem == ConvNextStem::patches)
        return l.conv("conv", x, {.out_channels = c.channels, .kernel = 4, .stride = 4, .padding = 0, .bias = true});
    const std::int64_t first = c.stem == ConvNextStem::tiered ? (c.channels / 2 + 4) / 8 * 8 : c.channels;
    x = l.conv("conv1", x, {.out_channels = first, .kernel = 3, .stride = 2, .bias = true});
    return l.conv("conv2", x, {.out_channels = c.channels, .kernel = 3, .stride = 2, .bias = true});
}

Image convnext_head(Layers& l, Image x, const ConvNext& c) {
    if (c.head == ConvNextHead::norm_first) return l.global_pool(l.norm("norm", x, NormKind::layer));
    x = l.norm("norm", l.global_pool(x), NormKind::layer);
    return c.head == ConvNextHead::hidden ? l.activation(l.linear("hidden", x, x.channels), PointwiseKind::gelu) : x;
}

void build_convnext(NetworkBuilder& network, const ConvNext& c, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) { return l.norm("norm", convnext_stem(l, x, c), NormKind::layer); });
    const auto block = [&c](Layers& l, Image x) { return convnext_block(l, x, c); };
    for (std::size_t stage = 0; stage < c.blocks.size(); ++stage) {
        const std::string number = std::to_string(stage + 1);
        if (stage > 0)
            network.block("downsample " + number, BlockRole::layer, [&](Layers& l, Image x) {
                return l.conv("conv", x, {.out_channels = c.channels << stage, .kernel = 2, .stride = 2, .padding = 0, .bias = true});
            });
        const bool last_stage = stage + 1 == c.blocks.size();
        const int alike = last_stage ? c.blocks[stage] : c.blocks[stage] - 1;
        for (int i = 0; i < alike; ++i) network.block("stage " + number + " block", BlockRole::layer, block);
        if (!last_stage)  // with the norm in front of the downsampling: the addition's kernel may hold it
            network.block("stage " + number + " last block", BlockRole::layer,
                          [&](Layers& l, Image x) { return l.norm("downsample.norm", block(l, x), NormKind::layer); });
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(convnext_head(l, x, c), classes); });
}

}  // namespace

std::vector<Architecture> convnext_architectures() {
    std::vector<Architecture> all;
    constexpr std::array atto{2, 2, 6, 2}, nano{2, 2, 8, 2}, tiny{3, 3, 9, 3}, deep{3, 3, 27, 3};
    constexpr auto patches = ConvNextStem::patches, overlapping = ConvNextStem::overlapping, tiered = ConvNextStem::tiered;
    constexpr auto norm_first = ConvNextHead::norm_first, hidden = ConvNextHead::hidden;
    for (const ConvNext& c :
         {ConvNext{"convnext_tiny", tiny, 96}, ConvNext{"convnext_small", deep, 96}, ConvNext{"convnext_base", deep, 128},
          ConvNext{"convnext_large", deep, 192}, ConvNext{"convnext_xlarge", deep, 256}, ConvNext{"convnextv2_atto", atto, 40, 2},
          ConvNext{"convnextv2_femto", atto, 48, 2}, ConvNext{"convnextv2_pico", atto, 64, 2}, ConvNext{"convnextv2_nano", nano, 80, 2},
          ConvNext{"convnextv2_tiny", tiny, 96, 2}, ConvNext{"convnextv2_small", deep, 96, 2}, ConvNext{"convnextv2_base", deep, 128, 2},
          ConvNext{"convnextv2_large", deep, 192, 2}, ConvNext{"convnextv2_huge", deep, 352, 2, patches, ConvNextHead::pool_first, 384},
          // timm's own
          ConvNext{"convnext_atto", atto, 40}, ConvNext{"convnext_femto", atto, 48}, ConvNext{"convnext_pico", atto, 64},
          ConvNext{"convnext_nano", nano, 80}, ConvNext{"convnext_atto_ols", atto, 40, 1, tiered},
          ConvNext{"convnext_femto_ols", atto, 48, 1, tiered}, ConvNext{"convnext_pico_ols", atto, 64, 1, tiered},
          ConvNext{"convnext_nano_ols", nano, 80, 1, overlapping}, ConvNext{"convnext_tiny_hnf", tiny, 96, 1, patches, norm_first},
          ConvNext{"convnext_large_mlp", deep, 192, 1, patches, hidden, 320},
          ConvNext{"convnext_xxlarge", {3, 4, 30, 3}, 384, 1, patches, ConvNextHead::pool_first, 256}})
        all.push_back({{c.name}, [c](NetworkBuilder& n, std::int64_t classes) { build_convnext(n, c, classes); }, c.image_px});
    return all;
}

}  // namespace sextant
