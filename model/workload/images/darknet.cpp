// Darknet-53 (Redmon and Farhadi, arXiv 1804.02767, table 1) and the networks whose stages let half of their channels go past the residuals
// (Wang et al., CSPNet, arXiv 1911.11929, sections 3.1 and 4.1), as their authors write them in Darknet: a convolution makes each half.
// Leaky ReLU is taken for ReLU: it reads, writes and keeps the same.
#include "model/workload/images/families.hpp"

namespace sextant {
namespace {

struct DarkNetwork {
    const char* name;
    std::vector<int> residuals;  // per stage
    std::int64_t channels;       // that the first stage makes; each has twice those of the one before
    bool crosses = true;
    int whole_stages = 0;     // of the first, each half has as many channels as the stage makes, not half as many
    bool bottleneck = false;  // ResNet's stem and residuals; else Darknet's
    std::int64_t groups = 1;
};

Image dark_unit(Layers& l, const std::string& name, Image x, std::int64_t channels, std::int64_t kernel = 1, std::int64_t stride = 1,
                std::int64_t groups = 1) {
    return l.conv_norm_relu(name, x, {.out_channels = channels, .kernel = kernel, .stride = stride, .groups = groups});
}

Image dark_residual(Layers& l, Image x, std::int64_t inner) {
    return l.add("add", dark_unit(l, "conv2", dark_unit(l, "conv1", x, inner), x.channels, 3), x);
}

Image cross_bottleneck(Layers& l, Image x, std::int64_t inner, std::int64_t groups) {
    const Image y = dark_unit(l, "conv2", dark_unit(l, "conv1", x, inner), inner, 3, 1, groups);
    return l.relu(l.add("add", l.conv_norm("conv3", y, {.out_channels = x.channels}), x));
}

Image cross_stage(Layers& l, Image x, std::size_t stage, const DarkNetwork& d) {
    const std::int64_t channels = d.channels << stage, half = static_cast<int>(stage) < d.whole_stages ? channels : channels / 2;
    if (!d.bottleneck) x = dark_unit(l, "shrink", x, channels, 3, 2);
    if (d.bottleneck && stage > 0) x = dark_unit(l, "shrink", x, x.channels, 3, 2, d.groups);
    Image past = l.conv_norm("past", x, {.out_channels = half}), y = l.conv_norm("in", x, {.out_channels = half});
    if (!d.bottleneck) {
        past = l.relu(past);
        y = l.relu(y);
    }
    for (int i = 0; i < d.residuals[stage]; ++i)
        y = d.bottleneck ? cross_bottleneck(l, y, channels / 2, d.groups) : dark_residual(l, y, channels / 2);
    return dark_unit(l, "transition", l.concatenate({past, dark_unit(l, "out", y, half)}), channels);
}

void build_darknet(NetworkBuilder& network, const DarkNetwork& d, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        if (!d.bottleneck) return dark_unit(l, "conv", x, 32, 3);
        return l.pool("pool", dark_unit(l, "conv", x, 64, 7, 2), {.kernel = 3, .stride = 2, .padding = 1});
    });
    for (std::size_t stage = 0; stage < d.residuals.size(); ++stage) {
        const std::string name = "stage " + std::to_string(stage + 1);
        if (d.crosses) {
            network.block(name, BlockRole::layer, [&](Layers& l, Image x) { return cross_stage(l, x, stage, d); });
            continue;
        }
        network.block(name + " convolution", BlockRole::layer,
                      [&](Layers& l, Image x) { return dark_unit(l, "conv", x, d.channels << stage, 3, 2); });
        for (int i = 0; i < d.residuals[stage]; ++i)
            network.block(name + " residual", BlockRole::layer, [](Layers& l, Image x) { return dark_residual(l, x, x.channels / 2); });
    }
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> darknet_architectures() {
    const DarkNetwork networks[] = {
        {.name = "darknet53", .residuals = {1, 2, 8, 8, 4}, .channels = 64, .crosses = false},
        {.name = "cspdarknet53", .residuals = {1, 2, 8, 8, 4}, .channels = 64, .whole_stages = 1},
        {.name = "cspresnet50", .residuals = {3, 3, 5, 2}, .channels = 128, .whole_stages = 4, .bottleneck = true},
        {.name = "cspresnext50", .residuals = {3, 3, 5, 2}, .channels = 256, .bottleneck = true, .groups = 32},
    };
    std::vector<Architecture> all;
    for (const DarkNetwork& d : networks)
        all.push_back({{d.name}, [d](NetworkBuilder& n, std::int64_t classes) { build_darknet(n, d, classes); }, 256});
    return all;
}

}  // namespace sextant
