// MetaFormers (Yu et al., arXiv 2111.11418 and 2210.13452): something that mixes pixels, then a perceptron, each added to what it reads.
// PoolFormer averages pixels, ConvFormer filters each channel, CAFormer attends in its last two stages. As timm has them.
#include "model/workload/images/families.hpp"

#include <array>
#include <vector>

namespace sextant {
namespace {

enum class Mixing { average, filter, attention };

struct MetaFormer {
    std::vector<std::string> names;
    std::array<int, 4> blocks;
    std::array<std::int64_t, 4> channels;
    Mixing mixing = Mixing::average, last_mixing = Mixing::average;  // of the first two stages, and of the others
    bool first_version = false;  // scales what is added; the second what it is added to in the last two stages, and shifts no norms
    bool wide_head = false;      // a perceptron classifies
};

// A learned factor times the square of ReLU, plus a learned number (arXiv 2210.13452, section 3.3).
Image star_relu(Layers& l, Image x) {
    x = l.activation(l.relu(x), PointwiseKind::squared_relu);
    return l.shift_whole("star.shift", l.scale_whole("star.scale", x));
}

Image mix(Layers& l, Image x, Mixing mixing) {
    if (mixing == Mixing::attention) {
        constexpr std::int64_t head_dim = 32;
        return l.attention(x, {.heads = x.channels / head_dim, .bias = ProjectionBias::none, .project_bias = false});
    }
    if (mixing == Mixing::filter) {
        const Image wide = star_relu(l, l.linear("filter.expand", x, 2 * x.channels, false));
        const Image y = l.conv("filter", wide, {.out_channels = wide.channels, .kernel = 7, .groups = wide.channels});
        return l.linear("filter.contract", y, x.channels, false);
    }
    const Image average = l.pool("average", x, {.kind = PoolingKind::average, .kernel = 3, .stride = 1, .padding = 1});
    return l.standing_for("differences of images", l.add("difference", average, x));
}

Image metaformer_block(Layers& l, Image x, const MetaFormer& m, std::size_t stage) {
    const bool late = stage > 1;
    const Mixing mixing = late ? m.last_mixing : m.mixing;
    const auto norm = [&](const std::string& name, Image y) {
        return l.norm(name, y, m.mixing == Mixing::average ? NormKind::group : NormKind::layer, 1, m.first_version);
    };
    const auto add = [&](const std::string& name, Image y) {
        if (m.first_version) y = l.scale(name + ".scale", y);
        return l.add(name + ".add", !m.first_version && late ? l.scale(name + ".residual scale", x) : x, y);
    };
    x = add("mix", mix(l, norm("norm1", x), mixing));
    const Image wide = l.linear("expand", norm("norm2", x), 4 * x.channels, m.first_version);
    const Image y = m.first_version ? l.activation(wide, PointwiseKind::gelu) : star_relu(l, wide);
    return add("mlp", l.linear("contract", y, x.channels, m.first_version));
}

void build_metaformer(NetworkBuilder& network, const MetaFormer& m, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = l.conv("conv", x, {.out_channels = m.channels[0], .kernel = 7, .stride = 4, .padding = 2, .bias = true});
        return m.first_version ? x : l.norm("norm", x, NormKind::layer, 1, false);
    });
    for (std::size_t stage = 0; stage < m.blocks.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            if (stage > 0) {
                if (!m.first_version) x = l.norm("downsample.norm", x, NormKind::layer, 1, false);
                x = l.conv("downsample", x, {.out_channels = m.channels[stage], .kernel = 3, .stride = 2, .bias = true});
            }
            for (int i = 0; i < m.blocks[stage]; ++i) x = metaformer_block(l, x, m, stage);
            return x;
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.norm("norm", l.global_pool(x), NormKind::layer);
        if (!m.wide_head) return l.classifier(x, classes);
        x = l.activation(l.relu(l.linear("hidden", x, 4 * x.channels)), PointwiseKind::squared_relu);
        return l.classifier(l.norm("hidden.norm", x, NormKind::layer), classes);
    });
}

}  // namespace

std::vector<Architecture> metaformer_architectures() {
    constexpr std::array<std::int64_t, 4> s{64, 128, 320, 512}, m{96, 192, 384, 768}, m_wide{96, 192, 384, 576}, b{128, 256, 512, 768};
    constexpr std::array of_18{3, 3, 9, 3}, of_36{3, 12, 18, 3};
    struct Depth {
        const char* name;
        std::array<int, 4> blocks;
        std::array<std::int64_t, 4> channels;
    };
    std::vector<MetaFormer> networks;
    for (const Depth& d : {Depth{"s12", {2, 2, 6, 2}, s}, Depth{"s24", {4, 4, 12, 4}, s}, Depth{"s36", {6, 6, 18, 6}, s},
                           Depth{"m36", {6, 6, 18, 6}, m}, Depth{"m48", {8, 8, 24, 8}, m}}) {
        networks.push_back(
            {.names = {std::string("poolformer_") + d.name}, .blocks = d.blocks, .channels = d.channels, .first_version = true});
        networks.push_back({.names = {std::string("poolformerv2_") + d.name}, .blocks = d.blocks, .channels = d.channels});
    }
    for (const Depth& d : {Depth{"s18", of_18, s}, Depth{"s36", of_36, s}, Depth{"m36", of_36, m_wide}, Depth{"b36", of_36, b}}) {
        MetaFormer f{.names = {std::string("convformer_") + d.name},
                     .blocks = d.blocks,
                     .channels = d.channels,
                     .mixing = Mixing::filter,
                     .last_mixing = Mixing::filter,
                     .wide_head = true};
        networks.push_back(f);
        f.names = {std::string("caformer_") + d.name};
        f.last_mixing = Mixing::attention;
        networks.push_back(f);
    }
    std::vector<Architecture> all;
    all.reserve(networks.size());
    for (const MetaFormer& f : networks)
        all.push_back({f.names, [f](NetworkBuilder& n, std::int64_t classes) { build_metaformer(n, f, classes); }});
    return all;
}

}  // namespace sextant
