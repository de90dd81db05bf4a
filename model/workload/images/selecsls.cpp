// SelecSLS (Mehta et al., arXiv 1907.00837, section 4.1): each module concatenates what its three 3x3 made and, but for the first of a
// stage, what that one made.
#include "model/workload/images/families.hpp"

namespace sextant {
namespace {

struct SelectiveStage {
    std::int64_t inner;  // channels in its modules, and of what they make but for the last
    int modules;
    std::int64_t channels;
};

struct SelectiveNetwork {
    const char* name;
    std::vector<SelectiveStage> stages;
    std::vector<ConvLayer> head;
};

// What its convolutions are concatenated of: three of 3x3.
std::vector<Image> selective_branches(Layers& l, Image x, std::int64_t inner, std::int64_t stride) {
    const Image one = l.conv_norm_relu("conv1", x, {.out_channels = inner, .kernel = 3, .stride = stride});
    const Image two =
        l.conv_norm_relu("conv3", l.conv_norm_relu("conv2", one, {.out_channels = inner}), {.out_channels = inner / 2, .kernel = 3});
    const Image three =
        l.conv_norm_relu("conv5", l.conv_norm_relu("conv4", two, {.out_channels = inner}), {.out_channels = inner / 2, .kernel = 3});
    return {one, two, three};
}

// A stage is one block: all of its modules read what the first made.
Image selective_stage(Layers& l, Image x, const SelectiveStage& s) {
    const Image first = l.conv_norm_relu("conv6", l.concatenate(selective_branches(l, x, s.inner, 2)), {.out_channels = s.inner});
    x = first;
    for (int i = 1; i < s.modules; ++i) {
        std::vector<Image> made = selective_branches(l, x, s.inner, 1);
        made.push_back(first);
        x = l.conv_norm_relu("conv6", l.concatenate(made), {.out_channels = i + 1 < s.modules ? s.inner : s.channels});
    }
    return x;
}

void build_selecsls(NetworkBuilder& network, const SelectiveNetwork& s, std::int64_t classes) {
    network.block("stem", BlockRole::input,
                  [](Layers& l, Image x) { return l.conv_norm_relu("conv", x, {.out_channels = 32, .kernel = 3, .stride = 2}); });
    for (std::size_t stage = 0; stage < s.stages.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer,
                      [&](Layers& l, Image x) { return selective_stage(l, x, s.stages[stage]); });
    for (const ConvLayer& c : s.head)
        network.block("convolution to " + std::to_string(c.out_channels), BlockRole::layer,
                      [&](Layers& l, Image x) { return l.conv_norm_relu("conv", x, c); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> selecsls_architectures() {
    const std::vector<SelectiveStage> of_42{{64, 2, 128}, {144, 2, 288}, {304, 2, 480}};
    const std::vector<SelectiveStage> of_60{{64, 2, 128}, {128, 3, 288}, {288, 4, 416}};
    const auto head = [](std::int64_t first, std::int64_t third, std::int64_t last) {
        return std::vector<ConvLayer>{{.out_channels = first, .kernel = 3, .stride = 2},
                                      {.out_channels = 1024, .kernel = 3},
                                      {.out_channels = third, .kernel = 3, .stride = 2},
                                      {.out_channels = last}};
    };
    std::vector<Architecture> all;
    for (const SelectiveNetwork& s :
         {SelectiveNetwork{"selecsls42", of_42, head(960, 1024, 1280)}, SelectiveNetwork{"selecsls42b", of_42, head(960, 1280, 1024)},
          SelectiveNetwork{"selecsls60", of_60, head(756, 1024, 1280)}, SelectiveNetwork{"selecsls60b", of_60, head(756, 1280, 1024)}})
        all.push_back({{s.name}, [s](NetworkBuilder& n, std::int64_t classes) { build_selecsls(n, s, classes); }});
    return all;
}

}  // namespace sextant
