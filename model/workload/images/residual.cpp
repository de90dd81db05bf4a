// ResNet (He et al., arXiv 1512.03385), Wide ResNet (arXiv 1605.07146), ResNeXt (arXiv 1611.05431), the forms that ResNets have since
// arXiv 1812.01187 (figure 2) and in GluonCV and timm, and all of them with squeeze and excitation (arXiv 1709.01507, table 1), of which
// SENet-154 is the largest; ResNet-RS (Bello et al., arXiv 2103.07579) is one of form d. Bottlenecks put the stride into their 3x3
// convolution ("v1.5"), as the trainings that people measure do. ECA-ResNets (Wang et al., arXiv 1910.03151) weigh channels by
// those beside them; others blur before they drop pixels (Zhang, arXiv 1904.11486).
#include "model/workload/images/residual.hpp"

#include "model/workload/images/families.hpp"

#include <array>
#include <utility>

namespace sextant {
namespace {

Image conv_and_norm(Layers& l, const std::string& conv, const std::string& norm, Image x, const ConvLayer& c, const ResidualNetwork& r) {
    return l.norm(norm, l.conv(conv, x, c), r.norm, 32);
}

Image average(Layers& l, const std::string& name, Image x, std::int64_t stride) {
    return l.pool(name, x, {.kind = PoolingKind::average, .kernel = stride, .stride = stride, .round_up = true});
}

Image shortcut(Layers& l, Image x, Image y, std::int64_t stride, const ResidualNetwork& r) {
    if (x.channels == y.channels && stride == 1) return x;
    const std::int64_t kernel = stride > 1 ? r.shortcut_kernel : 1;
    if (r.form.pools_shortcuts && stride > 1) x = average(l, "downsample.pool", x, std::exchange(stride, 1));
    return conv_and_norm(l, "downsample", "downsample.bn", x, {.out_channels = y.channels, .kernel = kernel, .stride = stride}, r);
}

// What the convolutions of a residual made, and its shortcut.
Image residual(Layers& l, Image y, Image x, std::int64_t stride, const ResidualNetwork& r) {
    if (r.weighs_by_neighbours) y = l.weigh_by_neighbours(y);
    if (r.squeeze > 0) y = l.squeeze_excite(y, y.channels / r.squeeze, PointwiseKind::relu);
    return l.relu(l.add("add", y, shortcut(l, x, y, stride, r)));
}

Image smaller(Layers& l, const std::string& name, Image x, std::int64_t stride, const ResidualNetwork& r) {
    return r.reduction == Reduction::averages ? average(l, name, x, stride) : l.blur(name, x, stride);
}

// Its stride where averages or blurs take that.
Image strided_3x3(Layers& l, const std::string& conv, const std::string& norm, Image x, ConvLayer c, const ResidualNetwork& r) {
    const std::int64_t stride = r.reduction != Reduction::strides ? std::exchange(c.stride, 1) : 1;
    x = l.relu(conv_and_norm(l, conv, norm, x, c, r));
    return stride > 1 ? smaller(l, "average", x, stride, r) : x;
}

Image basic_block(Layers& l, Image x, std::int64_t channels, std::int64_t stride, const ResidualNetwork& r) {
    Image y = r.middle ? r.middle(l, x, channels, stride, stride > 1 || x.channels != channels)
                       : strided_3x3(l, "conv1", "bn1", x, {.out_channels = channels, .kernel = 3, .stride = stride}, r);
    y = conv_and_norm(l, "conv2", "bn2", y, {.out_channels = channels, .kernel = 3}, r);
    return residual(l, y, x, stride, r);
}

// `dilation`: of its 3x3.
Image bottleneck_block(Layers& l, Image x, std::int64_t channels, std::int64_t stride, std::int64_t dilation, const ResidualNetwork& r) {
    const std::int64_t width = channels * r.groups.width / 64 * r.groups.count * r.widening;
    const std::int64_t first = r.strides_first ? stride : 1;
    Image y = l.relu(conv_and_norm(l, "conv1", "bn1", x, {.out_channels = r.narrow_first ? width / 2 : width, .stride = first}, r));
    if (r.middle)
        y = r.middle(l, y, width, stride, stride > 1 || x.channels != 4 * channels);
    else
        y = strided_3x3(l, "conv2", "bn2", y,
                        {.out_channels = width, .kernel = 3, .stride = stride / first, .groups = r.groups.count, .dilation = dilation}, r);
    y = conv_and_norm(l, "conv3", "bn3", y, {.out_channels = 4 * channels}, r);
    return residual(l, y, x, stride, r);
}

}  // namespace

void add_stem_and_stages(NetworkBuilder& network, const ResidualNetwork& r) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        for (std::size_t i = 0; i < r.form.stem.size(); ++i) {
            const std::string number = std::to_string(i + 1);
            x = l.relu(conv_and_norm(l, "conv" + number, "bn" + number, x,
                                     {.out_channels = r.form.stem[i], .kernel = 3, .stride = i == 0 ? 2 : 1}, r));
        }
        if (r.form.stem.empty()) {
            x = l.conv("conv", x, {.out_channels = 64, .kernel = 7, .stride = 2});
            x = l.relu(l.norm("bn", x, r.norm, 32));
        }
        if (r.reduction == Reduction::averages) return average(l, "pool", x, 2);
        if (r.reduction == Reduction::blurs) return l.blur("blur", l.pool("pool", x, {.kernel = 3, .stride = 1, .padding = 1}), 2);
        if (r.form.pools_in_stem) return l.pool("pool", x, {.kernel = 3, .stride = 2, .padding = 1});
        return l.relu(conv_and_norm(l, "conv4", "bn4", x, {.out_channels = 64, .kernel = 3, .stride = 2}, r));
    });
    std::int64_t dilation = 1;
    for (std::size_t stage = 0; stage < r.blocks.size(); ++stage)
        for (int i = 0; i < r.blocks[stage]; ++i) {
            const std::int64_t channels = 64LL << stage;
            const bool keeps_size = r.dilated && stage >= 2;
            const std::int64_t stride = stage > 0 && i == 0 && !keeps_size ? 2 : 1;
            network.block("stage " + std::to_string(stage + 1) + (r.bottleneck ? " bottleneck" : " basic block"), BlockRole::layer,
                          [&](Layers& l, Image x) {
                              return r.bottleneck ? bottleneck_block(l, x, channels, stride, dilation, r)
                                                  : basic_block(l, x, channels, stride, r);
                          });
            if (i == 0 && keeps_size) dilation *= 2;
        }
}

void build_residual(NetworkBuilder& network, const ResidualNetwork& r, std::int64_t classes) {
    add_stem_and_stages(network, r);
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

Architecture architecture_of(const ResidualNetwork& r) {
    return {r.names, [r](NetworkBuilder& n, std::int64_t classes) { build_residual(n, r, classes); }, r.image_px};
}

void add_dilated_resnet(NetworkBuilder& network, const std::array<int, 4>& blocks) {
    add_stem_and_stages(network, {.names = {}, .blocks = blocks, .dilated = true});
}

std::vector<Architecture> residual_architectures() {
    constexpr std::array<int, 4> of_18{2, 2, 2, 2}, of_26 = of_18, of_34{3, 4, 6, 3}, of_50 = of_34, of_101{3, 4, 23, 3},
                                                    of_152{3, 8, 36, 3}, of_200{3, 24, 36, 3};
    const std::vector<std::int64_t> deep{32, 32, 64}, wide{64, 64, 128}, tiered{24, 32, 64};
    const Form c{deep}, s{wide}, d{deep, true}, t{tiered, true}, rs{deep, true, false}, pooled{{}, true}, sd{wide, true};
    constexpr Reduction averages = Reduction::averages, blurs = Reduction::blurs;
    constexpr std::array<int, 4> of_269{3, 30, 48, 8};
    const std::vector<ResidualNetwork> networks{
        {.names = {"resnet18", "resnet18_v1b"}, .blocks = of_18, .bottleneck = false},
        {.names = {"resnet34", "resnet34_v1b"}, .blocks = of_34, .bottleneck = false},
        {.names = {"resnet26"}, .blocks = of_26},
        {.names = {"resnet50", "resnet50_v1.5", "resnet50_v1b"}, .blocks = of_50},
        {.names = {"resnet101", "resnet101_v1b"}, .blocks = of_101},
        {.names = {"resnet152", "resnet152_v1b"}, .blocks = of_152},
        {.names = {"resnet200"}, .blocks = of_200},
        {.names = {"wide_resnet50_2"}, .blocks = of_50, .groups = {1, 128}},
        {.names = {"wide_resnet101_2"}, .blocks = of_101, .groups = {1, 128}},
        {.names = {"resnext50_32x4d"}, .blocks = of_50, .groups = {32, 4}},
        {.names = {"resnext101_32x4d"}, .blocks = of_101, .groups = {32, 4}},
        {.names = {"resnext101_32x8d"}, .blocks = of_101, .groups = {32, 8}},
        {.names = {"resnext101_32x16d"}, .blocks = of_101, .groups = {32, 16}},
        {.names = {"resnext101_32x32d"}, .blocks = of_101, .groups = {32, 32}},
        {.names = {"resnext101_64x4d"}, .blocks = of_101, .groups = {64, 4}},
        {.names = {"seresnet18"}, .blocks = of_18, .bottleneck = false, .squeeze = 16},
        {.names = {"seresnet34"}, .blocks = of_34, .bottleneck = false, .squeeze = 16},
        {.names = {"seresnet50"}, .blocks = of_50, .squeeze = 16},
        {.names = {"seresnet101"}, .blocks = of_101, .squeeze = 16},
        {.names = {"seresnet152"}, .blocks = of_152, .squeeze = 16},
        {.names = {"legacy_seresnet50"}, .blocks = of_50, .squeeze = 16, .strides_first = true},
        {.names = {"legacy_seresnet101"}, .blocks = of_101, .squeeze = 16, .strides_first = true},
        {.names = {"legacy_seresnet152"}, .blocks = of_152, .squeeze = 16, .strides_first = true},
        {.names = {"seresnext26_32x4d", "legacy_seresnext26_32x4d"}, .blocks = of_26, .groups = {32, 4}, .squeeze = 16},
        {.names = {"seresnext50_32x4d", "legacy_seresnext50_32x4d"}, .blocks = of_50, .groups = {32, 4}, .squeeze = 16},
        {.names = {"seresnext101_32x4d", "legacy_seresnext101_32x4d"}, .blocks = of_101, .groups = {32, 4}, .squeeze = 16},
        {.names = {"seresnext101_32x8d"}, .blocks = of_101, .groups = {32, 8}, .squeeze = 16},
        {.names = {"seresnext101_64x4d"}, .blocks = of_101, .groups = {64, 4}, .squeeze = 16},
        {.names = {"senet154", "legacy_senet154"},
         .blocks = of_152,
         .groups = {64, 4},
         .squeeze = 16,
         .form = s,
         .narrow_first = true,
         .shortcut_kernel = 3},
        {.names = {"resnet50c", "resnet50_v1c"}, .blocks = of_50, .form = c},
        {.names = {"resnet101c", "resnet101_v1c"}, .blocks = of_101, .form = c},
        {.names = {"resnet152c", "resnet152_v1c"}, .blocks = of_152, .form = c},
        {.names = {"resnet50s", "resnet50_v1s"}, .blocks = of_50, .form = s},
        {.names = {"resnet101s", "resnet101_v1s"}, .blocks = of_101, .form = s},
        {.names = {"resnet152s", "resnet152_v1s"}, .blocks = of_152, .form = s},
        {.names = {"resnet18d", "resnet18_v1d"}, .blocks = of_18, .bottleneck = false, .form = d},
        {.names = {"resnet34d", "resnet34_v1d"}, .blocks = of_34, .bottleneck = false, .form = d},
        {.names = {"resnet26d"}, .blocks = of_26, .form = d},
        {.names = {"resnet50d", "resnet50_v1d"}, .blocks = of_50, .form = d},
        {.names = {"resnet101d", "resnet101_v1d"}, .blocks = of_101, .form = d},
        {.names = {"resnet152d", "resnet152_v1d"}, .blocks = of_152, .form = d},
        {.names = {"resnet200d"}, .blocks = of_200, .form = d},
        {.names = {"resnet10t"}, .blocks = {1, 1, 1, 1}, .bottleneck = false, .form = t},
        {.names = {"resnet14t"}, .blocks = {1, 1, 1, 1}, .form = t},
        {.names = {"resnet26t"}, .blocks = of_26, .form = t},
        {.names = {"resnet50t"}, .blocks = of_50, .form = t},
        {.names = {"resnext50d_32x4d"}, .blocks = of_50, .groups = {32, 4}, .form = d},
        {.names = {"seresnet152d"}, .blocks = of_152, .squeeze = 16, .form = d},
        {.names = {"seresnext26d_32x4d"}, .blocks = of_26, .groups = {32, 4}, .squeeze = 16, .form = d},
        {.names = {"seresnext26t_32x4d"}, .blocks = of_26, .groups = {32, 4}, .squeeze = 16, .form = t},
        {.names = {"seresnext101d_32x8d"}, .blocks = of_101, .groups = {32, 8}, .squeeze = 16, .form = d},
        {.names = {"resnetaa50"}, .blocks = of_50, .reduction = averages},
        {.names = {"resnetaa50d"}, .blocks = of_50, .form = d, .reduction = averages},
        {.names = {"resnetaa101d"}, .blocks = of_101, .form = d, .reduction = averages},
        {.names = {"seresnextaa101d_32x8d"}, .blocks = of_101, .groups = {32, 8}, .squeeze = 16, .form = d, .reduction = averages},
        {.names = {"resnetaa34d"}, .blocks = of_34, .bottleneck = false, .form = d, .reduction = averages},
        {.names = {"seresnetaa50d"}, .blocks = of_50, .squeeze = 16, .form = d, .reduction = averages},
        {.names = {"seresnextaa201d_32x8d"},
         .blocks = {3, 24, 36, 4},
         .groups = {32, 8},
         .squeeze = 16,
         .form = sd,
         .reduction = averages,
         .image_px = 384},
        {.names = {"resnetblur18"}, .blocks = of_18, .bottleneck = false, .reduction = blurs},
        {.names = {"resnetblur50"}, .blocks = of_50, .reduction = blurs},
        {.names = {"resnetblur50d"}, .blocks = of_50, .form = d, .reduction = blurs},
        {.names = {"resnetblur101d"}, .blocks = of_101, .form = d, .reduction = blurs},
        {.names = {"resnet50_gn"}, .blocks = of_50, .norm = NormKind::group},
        {.names = {"seresnet50t"}, .blocks = of_50, .squeeze = 16, .form = t},
        {.names = {"seresnet200d"}, .blocks = of_200, .squeeze = 16, .form = d, .image_px = 256},
        {.names = {"seresnet269d"}, .blocks = of_269, .squeeze = 16, .form = d, .image_px = 256},
        {.names = {"ecaresnet26t"}, .blocks = of_26, .weighs_by_neighbours = true, .form = t, .image_px = 256},
        {.names = {"ecaresnet50d"}, .blocks = of_50, .weighs_by_neighbours = true, .form = d},
        {.names = {"ecaresnet50t"}, .blocks = of_50, .weighs_by_neighbours = true, .form = t, .image_px = 256},
        {.names = {"ecaresnet101d"}, .blocks = of_101, .weighs_by_neighbours = true, .form = d},
        {.names = {"ecaresnet200d"}, .blocks = of_200, .weighs_by_neighbours = true, .form = d, .image_px = 256},
        {.names = {"ecaresnet269d"}, .blocks = of_269, .weighs_by_neighbours = true, .form = d, .image_px = 320},
        {.names = {"ecaresnetlight"}, .blocks = {1, 1, 11, 3}, .weighs_by_neighbours = true, .form = pooled},
        {.names = {"ecaresnext26t_32x4d"}, .blocks = of_26, .groups = {32, 4}, .weighs_by_neighbours = true, .form = t},
        {.names = {"ecaresnext50t_32x4d"}, .blocks = of_50, .groups = {32, 4}, .weighs_by_neighbours = true, .form = t},
        // For images of the sizes of timm's weights.
        {.names = {"resnetrs50"}, .blocks = of_50, .squeeze = 4, .form = rs, .image_px = 160},
        {.names = {"resnetrs101"}, .blocks = of_101, .squeeze = 4, .form = rs, .image_px = 192},
        {.names = {"resnetrs152"}, .blocks = of_152, .squeeze = 4, .form = rs, .image_px = 256},
        {.names = {"resnetrs200"}, .blocks = of_200, .squeeze = 4, .form = rs, .image_px = 256},
        {.names = {"resnetrs270"}, .blocks = {4, 29, 53, 4}, .squeeze = 4, .form = rs, .image_px = 256},
        {.names = {"resnetrs350"}, .blocks = {4, 36, 72, 4}, .squeeze = 4, .form = rs, .image_px = 288},
        {.names = {"resnetrs420"}, .blocks = {4, 44, 87, 4}, .squeeze = 4, .form = rs, .image_px = 320},
    };
    std::vector<Architecture> all;
    all.reserve(std::size(networks));
    for (const ResidualNetwork& r : networks) all.push_back(architecture_of(r));
    return all;
}

}  // namespace sextant
