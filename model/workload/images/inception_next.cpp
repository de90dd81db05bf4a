// InceptionNeXt (Yu et al., arXiv 2303.16900, section 3): a ConvNeXt of batch norms whose large filters are three small ones, a square and
// two bands, each of some of the channels; the other channels stay as they are. As timm has it. A stage is one block.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct InceptionNext {
    const char* name;
    std::array<int, 4> blocks;
    std::int64_t channels;                // of the first stage; each later one has twice those before it
    std::int64_t band = 11, part_of = 8;  // of the channels has each filter
};

Image filter_parts(Layers& l, Image x, const InceptionNext& n) {
    const std::int64_t part = x.channels / n.part_of;
    std::vector<Image> parts = l.parts(x, {x.channels - 3 * part, part, part, part});
    const auto filter = [&](const char* name, Image in, std::int64_t height, std::int64_t width) {
        return l.conv(name, in, {.out_channels = part, .kernel = height, .kernel_w = width, .groups = part, .bias = true});
    };
    parts[1] = filter("square", parts[1], 3, 3);
    parts[2] = filter("row", parts[2], 1, n.band);
    parts[3] = filter("column", parts[3], n.band, 1);
    return l.concatenate(parts);
}

void build_inception_next(NetworkBuilder& network, const InceptionNext& n, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return l.norm("bn", l.conv("conv", x, {.out_channels = n.channels, .kernel = 4, .stride = 4, .padding = 0, .bias = true}));
    });
    for (std::size_t stage = 0; stage < n.blocks.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            const ConvLayer halve{.out_channels = n.channels << stage, .kernel = 2, .stride = 2, .padding = 0, .bias = true};
            if (stage > 0) x = l.conv("downsample", l.norm("downsample.bn", x), halve);
            for (int i = 0; i < n.blocks[stage]; ++i) {
                const Image y = l.perceptron(l.norm("bn", filter_parts(l, x, n)), (stage == 3 ? 3 : 4) * x.channels);
                x = l.add("add", l.scale("layer scale", y), x);
            }
            return x;
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.global_pool(x);
        x = l.activation(l.linear("hidden", x, 3 * x.channels), PointwiseKind::gelu);
        return l.classifier(l.norm("norm", x, NormKind::layer), classes);
    });
}

}  // namespace

std::vector<Architecture> inception_next_architectures() {
    std::vector<Architecture> all;
    for (const InceptionNext& n :
         {InceptionNext{"inception_next_atto", {2, 2, 6, 2}, 40, 9, 4}, InceptionNext{"inception_next_tiny", {3, 3, 9, 3}, 96},
          InceptionNext{"inception_next_small", {3, 3, 27, 3}, 96}, InceptionNext{"inception_next_base", {3, 3, 27, 3}, 128}})
        all.push_back({{n.name}, [n](NetworkBuilder& b, std::int64_t classes) { build_inception_next(b, n, classes); }});
    return all;
}

}  // namespace sextant
