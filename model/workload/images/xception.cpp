// Xception (Chollet, arXiv 1610.02357, figure 5): every module is made of separable convolutions, which filter each channel by itself and
// then mix channels by a 1x1, without an activation between the two. And the Aligned Xceptions of DeepLab v3+ (Chen et al., arXiv
// 1802.02611, figure 4): three of them in each module, the last with its stride, and batch norms behind every filter.
#include "model/workload/images/families.hpp"

#include <array>

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

struct AlignedModule {
    std::array<std::int64_t, 3> channels;
    std::int64_t stride;
};

struct AlignedXception {
    const char* name;
    std::vector<AlignedModule> entry;
    int middle;  // modules
};

Image aligned_separable(Layers& l, const std::string& name, Image x, std::int64_t channels, std::int64_t stride, bool activates) {
    x = l.conv_norm(name + ".depthwise", x, {.out_channels = x.channels, .kernel = 3, .stride = stride, .groups = x.channels});
    x = l.conv_norm(name + ".pointwise", activates ? l.relu(x) : x, {.out_channels = channels});
    return activates ? l.relu(x) : x;
}

Image aligned_module(Layers& l, Image x, const AlignedModule& m) {
    Image y = x;
    for (std::size_t i = 0; i < m.channels.size(); ++i)
        y = aligned_separable(l, "separable " + std::to_string(i + 1), l.relu(y), m.channels[i], i == 2 ? m.stride : 1, false);
    if (m.stride > 1 || x.channels != y.channels) x = l.conv_norm("shortcut", x, {.out_channels = y.channels, .stride = m.stride});
    return l.add("add", y, x);
}

void build_aligned_xception(NetworkBuilder& network, const AlignedXception& a, std::int64_t classes) {
    network.block("stem", BlockRole::input,
                  [](Layers& l, Image x) { return l.conv_norm_relu("conv1", x, {.out_channels = 32, .kernel = 3, .stride = 2}); });
    network.block("modules", BlockRole::layer, [&](Layers& l, Image x) {
        x = l.conv_norm_relu("conv2", x, {.out_channels = 64, .kernel = 3});
        for (const AlignedModule& m : a.entry) x = aligned_module(l, x, m);
        for (int i = 0; i < a.middle; ++i) x = aligned_module(l, x, {{728, 728, 728}, 1});
        return aligned_module(l, x, {{728, 1024, 1024}, 2});
    });
    for (const std::int64_t channels : {1536, 1536, 2048})
        network.block("separable to " + std::to_string(channels), BlockRole::layer,
                      [&](Layers& l, Image x) { return aligned_separable(l, "separable", x, channels, 1, true); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> xception_architectures() {
    const auto all_three = [](std::int64_t channels, std::int64_t stride) { return AlignedModule{{channels, channels, channels}, stride}; };
    const std::vector<AlignedModule> entry{all_three(128, 2), all_three(256, 2), all_three(728, 2)};
    const std::vector<AlignedModule> deep_entry{all_three(128, 2), all_three(256, 1), all_three(256, 2), all_three(728, 1),
                                                all_three(728, 2)};
    std::vector<Architecture> all{{{"xception", "legacy_xception"}, build_xception, 299}};
    for (const AlignedXception& a :
         {AlignedXception{"xception41", entry, 8}, AlignedXception{"xception65", entry, 16}, AlignedXception{"xception71", deep_entry, 16}})
        all.push_back({{a.name}, [a](NetworkBuilder& n, std::int64_t classes) { build_aligned_xception(n, a, classes); }, 299});
    return all;
}

}  // namespace sextant
