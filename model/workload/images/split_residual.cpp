// ResNets whose 3x3 is of several. Res2Net (Gao et al., arXiv 1904.01169, section 3.1): of parts of the channels, one behind the other.
// SKNet (Li et al., arXiv 1903.06586) and ResNeSt (Zhang et al., arXiv 2004.08955): side by side, and weighed by what they made.
#include "model/workload/images/residual.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

Image Layers::sum_parts(const std::string& name, Image x, std::int64_t parts) {
    x = whole(x);
    Image y = x;
    y.channels /= parts;
    return standing_for("sums over parts of the channels", emit(name, Pointwise{PointwiseKind::add, elements_here(x)}, {x.id}, y));
}

Image Layers::weigh_parts(Image x, std::int64_t parts, std::int64_t hidden, bool bias, std::int64_t groups) {
    x = whole(x);
    Image of_all = global_pool(parts > 1 ? sum_parts("sum", x, parts) : x);
    of_all = conv("reduce", of_all, {.out_channels = hidden, .groups = groups, .bias = bias});
    Image factors = conv("select", relu(norm("reduce.bn", of_all)), {.out_channels = x.channels, .groups = groups, .bias = bias});
    factors = whole(factors);
    if (parts == 1) return gate("gate", x, activation(factors, PointwiseKind::sigmoid));
    const Softmax over_parts{.rows = context_.shard.micro_batch * x.channels / parts, .width = parts};
    factors = standing_for("softmax over parts of the channels", emit("softmax", over_parts, {factors.id}, factors));
    return sum_parts("weighed sum", gate("gate", x, factors), parts);
}

namespace {

// Each convolution but the first adds what the one before it made; the last part is left alone, or averaged with the stride.
Middle hierarchical(std::int64_t parts, std::int64_t groups) {
    return [=](Layers& l, Image x, std::int64_t, std::int64_t stride, bool first) {
        const std::int64_t width = x.channels / parts;
        std::vector<Image> made = l.parts(x, std::vector<std::int64_t>(static_cast<std::size_t>(parts), width));
        for (std::size_t i = 0; i + 1 < made.size(); ++i) {
            const std::string number = std::to_string(i + 1);
            Image y = made[i];
            if (i > 0 && !first) y = l.add("add" + number, y, made[i - 1]);
            made[i] = l.conv_norm_relu("part" + number, y, {.out_channels = width, .kernel = 3, .stride = stride, .groups = groups});
        }
        if (first)
            made.back() = l.pool("average", made.back(), {.kind = PoolingKind::average, .kernel = 3, .stride = stride, .padding = 1});
        return l.concatenate(made);
    };
}

// One of 3x3, and one of 3x3 pixels that lie two apart; each of half of the channels, as timm has it, or of all.
Middle selective(std::int64_t groups, bool of_halves, std::int64_t reduction, std::int64_t multiple) {
    return [=](Layers& l, Image x, std::int64_t channels, std::int64_t stride, bool) {
        const auto [a, b] = of_halves ? l.halves(x) : std::pair{x, x};
        const auto path = [&](const std::string& name, Image in, std::int64_t dilation) {
            const ConvLayer conv{.out_channels = channels, .kernel = 3, .stride = stride, .groups = groups, .dilation = dilation};
            return l.conv_norm_relu(name, in, conv);
        };
        const std::int64_t wanted = channels / reduction;
        std::int64_t hidden = std::max(multiple, (wanted + multiple / 2) / multiple * multiple);
        if (10 * hidden < 9 * wanted) hidden += multiple;
        return l.weigh_parts(l.concatenate({path("near", a, 1), path("far", b, 2)}), 2, hidden, false);
    };
}

// `radix` convolutions, each of a part of the channels to all of them; averages take the stride.
Middle split_attention(std::int64_t radix, std::int64_t groups, bool averages_first) {
    return [=](Layers& l, Image x, std::int64_t channels, std::int64_t stride, bool) {
        const auto average = [&](Image y) {
            if (stride == 1) return y;
            return l.pool("average", y, {.kind = PoolingKind::average, .kernel = 3, .stride = stride, .padding = 1});
        };
        if (averages_first) x = average(x);
        const ConvLayer conv{.out_channels = channels * radix, .kernel = 3, .groups = groups * radix};
        const std::int64_t hidden = std::max<std::int64_t>(32, channels * radix / 4 / 8 * 8);
        x = l.weigh_parts(l.conv_norm_relu("conv2", x, conv), radix, hidden, true, groups);
        return averages_first ? x : average(x);
    };
}

}  // namespace

std::vector<Architecture> split_residual_architectures() {
    constexpr std::array<int, 4> of_14{1, 1, 1, 1}, of_18{2, 2, 2, 2}, of_50{3, 4, 6, 3}, of_101{3, 4, 23, 3}, of_200{3, 24, 36, 3},
        of_269{3, 30, 48, 8};
    const Form d{{32, 32, 64}, true}, e{{64, 64, 128}, true};
    const auto res2net = [](const char* name, const std::array<int, 4>& blocks, std::int64_t width, std::int64_t parts, Form form = {}) {
        return ResidualNetwork{.names = {name},
                               .blocks = blocks,
                               .groups = {1, width},
                               .form = std::move(form),
                               .middle = hierarchical(parts, 1),
                               .widening = parts};
    };
    const auto resnest = [](const char* name, const std::array<int, 4>& blocks, const Form& form, std::int64_t px = 224) {
        return ResidualNetwork{.names = {name}, .blocks = blocks, .form = form, .middle = split_attention(2, 1, false), .image_px = px};
    };
    std::vector<Architecture> all;
    for (const ResidualNetwork& r : {
             res2net("res2net50_26w_4s", of_50, 26, 4),
             res2net("res2net101_26w_4s", of_101, 26, 4),
             res2net("res2net50_26w_6s", of_50, 26, 6),
             res2net("res2net50_26w_8s", of_50, 26, 8),
             res2net("res2net50_48w_2s", of_50, 48, 2),
             res2net("res2net50_14w_8s", of_50, 14, 8),
             res2net("res2net50d", of_50, 26, 4, d),
             res2net("res2net101d", of_101, 26, 4, d),
             {.names = {"res2next50"}, .blocks = of_50, .groups = {8, 4}, .middle = hierarchical(4, 8), .widening = 4},
             {.names = {"skresnet18"}, .blocks = of_18, .bottleneck = false, .middle = selective(1, true, 8, 16)},
             {.names = {"skresnet34"}, .blocks = of_50, .bottleneck = false, .middle = selective(1, true, 8, 16)},
             {.names = {"skresnet50"}, .blocks = of_50, .middle = selective(1, true, 16, 8)},
             {.names = {"skresnet50d"}, .blocks = of_50, .form = d, .middle = selective(1, true, 16, 8)},
             {.names = {"skresnext50_32x4d"}, .blocks = of_50, .groups = {32, 4}, .middle = selective(32, false, 16, 32)},
             resnest("resnest14d", of_14, d),
             resnest("resnest26d", of_18, d),
             resnest("resnest50d", of_50, d),
             resnest("resnest101e", of_101, e, 256),
             resnest("resnest200e", of_200, e, 320),
             resnest("resnest269e", of_269, e, 416),
             {.names = {"resnest50d_4s2x40d"}, .blocks = of_50, .groups = {2, 40}, .form = d, .middle = split_attention(4, 2, true)},
             {.names = {"resnest50d_1s4x24d"}, .blocks = of_50, .groups = {4, 24}, .form = d, .middle = split_attention(1, 4, true)},
         })
        all.push_back(architecture_of(r));
    return all;
}

}  // namespace sextant
