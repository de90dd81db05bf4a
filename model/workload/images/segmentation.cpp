// Networks that say of each pixel what it belongs to: U-Net (Ronneberger et al., arXiv 1505.04597, figure 1), as it is mostly trained, with
// padded convolutions and batch norms; FCN (Long et al., arXiv 1411.4038) and DeepLab v3 (Chen et al., arXiv 1706.05587, section 3.3) on a
// ResNet, as torchvision has them, without their auxiliary classifier.
#include "model/workload/images/families.hpp"

namespace sextant {
namespace {

// Images of five sizes, each half of the one before and of twice its channels; then back, each size beside what the way down had of it.
void build_unet(NetworkBuilder& network, std::int64_t classes) {
    constexpr int sizes = 5;
    const Image data = network.image();
    const auto channels_of = [](int size) { return 64LL << size; };
    const auto conv_block = [&](int size, bool hands_on) {
        const std::int64_t channels = channels_of(size);
        const std::string name = "conv " + std::to_string(channels) + (hands_on ? ", pool" : "");
        network.block(name, network.image() == data ? BlockRole::input : BlockRole::layer, [&](Layers& l, Image x) {
            x = l.conv_norm_relu("conv", x, {.out_channels = channels, .kernel = 3});
            if (!hands_on) return x;
            l.beside().push_back(x);
            return l.pool("pool", x, {.kernel = 2});
        });
    };
    for (int size = 0; size < sizes; ++size) {
        conv_block(size, false);
        conv_block(size, size + 1 < sizes);
    }
    for (int size = sizes - 2; size >= 0; --size) {
        network.block("up " + std::to_string(channels_of(size)), BlockRole::layer, [&](Layers& l, Image x) {
            const Image like = l.beside().back();
            l.beside().pop_back();
            const ConvLayer c{.out_channels = channels_of(size), .kernel = 2, .stride = 2, .bias = true};
            return l.concatenate({like, l.transposed_conv("up", x, c, like.height, like.width)});
        });
        conv_block(size, false);
        conv_block(size, false);
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.pixel_classifier(x, classes, data); });
}

void build_fcn(NetworkBuilder& network, const std::array<int, 4>& blocks, std::int64_t classes) {
    const Image data = network.image();
    add_dilated_resnet(network, blocks);
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.conv_norm_relu("conv", x, {.out_channels = x.channels / 4, .kernel = 3});
        return l.pixel_classifier(l.dropout(x, 0.1), classes, data);
    });
}

void build_deeplab(NetworkBuilder& network, const std::array<int, 4>& blocks, std::int64_t classes) {
    constexpr std::int64_t channels = 256;
    const Image data = network.image();
    add_dilated_resnet(network, blocks);
    network.block("pyramid", BlockRole::layer, [](Layers& l, Image x) {
        std::vector<Image> views{l.conv_norm_relu("conv1", x, {.out_channels = channels})};
        for (const std::int64_t dilation : {12, 24, 36})
            views.push_back(l.conv_norm_relu("conv3", x, {.out_channels = channels, .kernel = 3, .dilation = dilation}));
        const Image mean = l.conv_norm_relu("conv of means", l.global_pool(x), {.out_channels = channels});
        views.push_back(l.enlarge(mean, x, PointwiseKind::interpolate));
        return l.dropout(l.conv_norm_relu("project", l.concatenate(views), {.out_channels = channels}));
    });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        return l.pixel_classifier(l.conv_norm_relu("conv", x, {.out_channels = channels, .kernel = 3}), classes, data);
    });
}

}  // namespace

std::vector<Architecture> segmentation_architectures() {
    constexpr std::array resnet50{3, 4, 6, 3}, resnet101{3, 4, 23, 3};
    std::vector<Architecture> all{{{"unet"}, build_unet, 512, 2}};
    for (const auto& [blocks, name] : {std::pair{resnet50, "resnet50"}, std::pair{resnet101, "resnet101"}}) {
        const auto add = [&, of = blocks](const std::string& head, auto* build) {
            all.push_back({{head + name}, [of, build](NetworkBuilder& n, std::int64_t classes) { build(n, of, classes); }, 520, 21});
        };
        add("fcn_", build_fcn);
        add("deeplabv3_", build_deeplab);
    }
    return all;
}

}  // namespace sextant
