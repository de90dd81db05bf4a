// HRNet for classification (Wang et al., arXiv 1908.07919, sections 3 and appendix A): images of several sizes side by side, each module
// adding to every one what all others have.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {

namespace {

struct HighResolution {
    const char* name;
    std::int64_t channels;  // of the largest images; each smaller size has twice those before it
    int bottlenecks = 4;    // behind the stem
    std::int64_t bottleneck_channels = 64;
    std::array<int, 3> modules{1, 4, 3};  // with two sizes, three, four
    int units = 4;                        // of each size, in a module
};

using Images = std::vector<Image>;

Image conv_norm(Layers& l, const std::string& name, Image x, std::int64_t channels, std::int64_t kernel, std::int64_t stride = 1) {
    return l.conv_norm(name, x, {.out_channels = channels, .kernel = kernel, .stride = stride});
}

Image bottleneck(Layers& l, Image x, std::int64_t channels) {
    Image y = l.relu(conv_norm(l, "conv1", x, channels, 1));
    y = conv_norm(l, "conv3", l.relu(conv_norm(l, "conv2", y, channels, 3)), 4 * channels, 1);
    return l.relu(l.add("add", y, x.channels == y.channels ? x : conv_norm(l, "downsample", x, 4 * channels, 1)));
}

Image basic_unit(Layers& l, Image x) {
    const Image y = conv_norm(l, "conv2", l.relu(conv_norm(l, "conv1", x, x.channels, 3)), x.channels, 3);
    return l.relu(l.add("add", y, x));
}

// What an image of one size adds to those of another.
Image resized(Layers& l, Image x, const Images& images, std::size_t from, std::size_t to) {
    if (from > to) return l.enlarge(conv_norm(l, "fuse", x, images[to].channels, 1), images[to]);
    for (std::size_t i = from; i < to; ++i) {
        const bool last = i + 1 == to;
        x = conv_norm(l, "fuse", x, last ? images[to].channels : x.channels, 3, 2);
        if (!last) x = l.relu(x);
    }
    return x;
}

Images exchange_module(Layers& l, Images images, int units) {
    for (Image& x : images)
        for (int i = 0; i < units; ++i) x = basic_unit(l, x);
    Images sums;
    for (std::size_t to = 0; to < images.size(); ++to) {
        Image sum = resized(l, images[0], images, 0, to);
        for (std::size_t from = 1; from < images.size(); ++from) sum = l.add("fuse.add", sum, resized(l, images[from], images, from, to));
        sums.push_back(l.relu(sum));
    }
    return sums;
}

// All modules are one block: between any two stand images of several sizes.
Image body(Layers& l, Image x, const HighResolution& h) {
    Images images{l.relu(conv_norm(l, "transition", x, h.channels, 3)), l.relu(conv_norm(l, "transition", x, 2 * h.channels, 3, 2))};
    for (std::size_t stage = 0; stage < h.modules.size(); ++stage) {
        if (stage > 0) images.push_back(l.relu(conv_norm(l, "transition", images.back(), 2 * images.back().channels, 3, 2)));
        for (int i = 0; i < h.modules[stage]; ++i) images = exchange_module(l, std::move(images), h.units);
    }
    Image sum;
    for (std::size_t i = 0; i < images.size(); ++i) {
        Image wide = bottleneck(l, images[i], 32LL << i);
        if (i == 0) {
            sum = wide;
            continue;
        }
        sum = l.conv("shrink", sum, {.out_channels = wide.channels, .kernel = 3, .stride = 2, .bias = true});
        sum = l.add("add", wide, l.relu(l.norm("shrink.bn", sum)));
    }
    return sum;
}

void build_hrnet(NetworkBuilder& network, const HighResolution& h, std::int64_t classes) {
    network.block("stem", BlockRole::input,
                  [](Layers& l, Image x) { return l.relu(conv_norm(l, "conv2", l.relu(conv_norm(l, "conv1", x, 64, 3, 2)), 64, 3, 2)); });
    for (int i = 0; i < h.bottlenecks; ++i)
        network.block("bottleneck", BlockRole::layer, [&](Layers& l, Image x) { return bottleneck(l, x, h.bottleneck_channels); });
    network.block("modules", BlockRole::layer, [&](Layers& l, Image x) { return body(l, x, h); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.relu(l.norm("bn", l.conv("conv", x, {.out_channels = 2048, .bias = true})));
        return l.classifier(l.global_pool(x), classes);
    });
}

}  // namespace

std::vector<Architecture> hrnet_architectures() {
    std::vector<Architecture> all;
    for (const HighResolution& h : {HighResolution{"hrnet_w18", 18}, HighResolution{"hrnet_w30", 30}, HighResolution{"hrnet_w32", 32},
                                    HighResolution{"hrnet_w40", 40}, HighResolution{"hrnet_w44", 44}, HighResolution{"hrnet_w48", 48},
                                    HighResolution{"hrnet_w64", 64}, HighResolution{"hrnet_w18_small", 16, 1, 32, {1, 1, 1}, 2},
                                    HighResolution{"hrnet_w18_small_v2", 18, 2, 64, {1, 3, 2}, 2}})
        all.push_back({{h.name}, [h](NetworkBuilder& n, std::int64_t classes) { build_hrnet(n, h, classes); }});
    return all;
}

}  // namespace sextant
