// Dual path networks (Chen et al., arXiv 1707.01629, table 1): some channels of an image have a residual added, as in a ResNet, and others
// are appended, as in a DenseNet. As timm has them. A stage is one block: its layers begin with norms.
#include "model/workload/images/families.hpp"

#include <array>

namespace sextant {
namespace {

struct DualPath {
    const char* name;
    std::array<int, 4> blocks;             // per stage
    std::array<std::int64_t, 4> appended;  // by each
    std::int64_t narrow, groups, stem_channels;
    bool small = false;     // a quarter of the channels that are added to, and a stem of 3x3
    bool separate = false;  // products for both kinds of channels
};

Image dual_path_block(Layers& l, Image x, const DualPath& d, std::size_t stage, bool first) {
    const std::int64_t added = (d.small ? 64 : 256) << stage, appended = d.appended[stage], narrow = d.narrow << stage;
    const std::int64_t stride = first && stage > 0 ? 2 : 1;
    const Image beside = first ? l.norm_relu_conv("project", x, {.out_channels = added + 2 * appended, .stride = stride}) : x;
    Image y = l.norm_relu_conv("conv1", x, {.out_channels = narrow});
    y = l.norm_relu_conv("conv2", y, {.out_channels = narrow, .kernel = 3, .stride = stride, .groups = d.groups});
    const std::vector<Image> known = l.parts(beside, {added, beside.channels - added});
    if (d.separate) {
        y = l.relu(l.norm("conv3.bn", y));
        const Image sum = l.add("add", known[0], l.conv("conv3", y, {.out_channels = added}));
        return l.concatenate({sum, known[1], l.conv("append", y, {.out_channels = appended})});
    }
    const std::vector<Image> made = l.parts(l.norm_relu_conv("conv3", y, {.out_channels = added + appended}), {added, appended});
    return l.concatenate({l.add("add", known[0], made[0]), known[1], made[1]});
}

void build_dual_path(NetworkBuilder& network, const DualPath& d, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        x = l.conv_norm_relu("conv", x, {.out_channels = d.stem_channels, .kernel = d.small ? 3 : 7, .stride = 2});
        return l.pool("pool", x, {.kernel = 3, .stride = 2, .padding = 1});
    });
    for (std::size_t stage = 0; stage < d.blocks.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            for (int i = 0; i < d.blocks[stage]; ++i) x = dual_path_block(l, x, d, stage, i == 0);
            return x;
        });
    network.block("head", BlockRole::head,
                  [&](Layers& l, Image x) { return l.classifier(l.global_pool(l.relu(l.norm("bn", x))), classes); });
}

}  // namespace

std::vector<Architecture> dual_path_architectures() {
    std::vector<Architecture> all;
    for (const DualPath& d :
         {DualPath{"dpn48b", {3, 4, 6, 3}, {16, 32, 32, 64}, 128, 32, 10, true, true},
          DualPath{"dpn68", {3, 4, 12, 3}, {16, 32, 32, 64}, 128, 32, 10, true},
          DualPath{"dpn68b", {3, 4, 12, 3}, {16, 32, 32, 64}, 128, 32, 10, true, true},
          DualPath{"dpn92", {3, 4, 20, 3}, {16, 32, 24, 128}, 96, 32, 64}, DualPath{"dpn98", {3, 6, 20, 3}, {16, 32, 32, 128}, 160, 40, 96},
          DualPath{"dpn107", {4, 8, 20, 3}, {20, 64, 64, 128}, 200, 50, 128},
          DualPath{"dpn131", {4, 8, 28, 3}, {16, 32, 32, 128}, 160, 40, 128}})
        all.push_back({{d.name}, [d](NetworkBuilder& n, std::int64_t classes) { build_dual_path(n, d, classes); }});
    return all;
}

}  // namespace sextant
