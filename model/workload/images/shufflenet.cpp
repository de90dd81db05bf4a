// ShuffleNet v2 (Ma et al., arXiv 1807.11164, section 3.2 and table 5): half of the channels go past a unit, and behind it the channels of
// both halves change places, one of each in turn.
#include "model/workload/images/families.hpp"

#include <array>
#include <tuple>
#include <vector>

namespace sextant {

std::vector<Image> Layers::parts(Image x, const std::vector<std::int64_t>& channels) {
    x = whole(x);
    const auto count = static_cast<std::int64_t>(channels.size());
    const bool even = channels.front() * count == x.channels;
    std::vector<CopyAxis> order;
    if (even) order = {{count, channels.front()}, {rows(x), x.channels}, {channels.front(), 1}};
    std::vector<Image> made(channels.size(), x);
    for (std::size_t i = 0; i < made.size(); ++i) {
        made[i].channels = channels[i];
        if (i > 0)
            made[i].id = graph_.also("parts." + std::to_string(i + 1), shape_here(made[i]), TensorRole::activation);
        else
            made[i] = emit("parts", Pointwise{.kind = PointwiseKind::copy, .elements = elements_here(x), .order = order}, {x.id}, made[i]);
    }
    if (!even || count != 2) graph_.stands_for("parts of channels other than halves");
    return made;
}

std::pair<Image, Image> Layers::halves(Image x) {
    const std::vector<Image> both = parts(x, {x.channels / 2, x.channels / 2});
    return {both[0], both[1]};
}

Image Layers::shuffle(Image x) {
    const std::int64_t channels = channels_here(x);
    return rearrange("shuffle", x, x, {{rows(x), channels}, {channels / 2, 1}, {2, channels / 2}});
}

namespace {

struct ShuffleNet {
    const char* name;
    std::array<std::int64_t, 3> channels;  // per stage
    std::int64_t head_channels;
};

// One that shrinks the image has all channels on both sides.
Image shuffle_unit(Layers& l, Image x, std::int64_t channels, bool shrinks) {
    const auto pointwise = [&](const std::string& name, Image y) { return l.conv_norm_relu(name, y, {.out_channels = channels / 2}); };
    const auto depthwise = [&](const std::string& name, Image y) {
        const std::int64_t stride = shrinks ? 2 : 1;
        return l.conv_norm(name, y, {.out_channels = y.channels, .kernel = 3, .stride = stride, .groups = y.channels});
    };
    Image beside = x, y = x;
    if (shrinks)
        beside = pointwise("beside.project", depthwise("beside.depthwise", x));
    else
        std::tie(beside, y) = l.halves(x);
    y = pointwise("project", depthwise("depthwise", pointwise("expand", y)));
    return l.shuffle(l.concatenate({l.whole(beside), l.whole(y)}));
}

// A stage is one block: a compiler joins what parts the channels to what shuffled them.
void build_shufflenet(NetworkBuilder& network, const ShuffleNet& s, std::int64_t classes) {
    constexpr std::array<int, 3> units{4, 8, 4};
    network.block("stem", BlockRole::input, [](Layers& l, Image x) {
        x = l.relu(l.norm("bn", l.conv("conv", x, {.out_channels = 24, .kernel = 3, .stride = 2})));
        return l.pool("pool", x, {.kernel = 3, .stride = 2, .padding = 1});
    });
    for (std::size_t stage = 0; stage < units.size(); ++stage)
        network.block("stage " + std::to_string(stage + 2), BlockRole::layer, [&](Layers& l, Image x) {
            for (int i = 0; i < units[stage]; ++i) x = shuffle_unit(l, x, s.channels[stage], i == 0);
            return x;
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        x = l.relu(l.norm("bn", l.conv("conv", x, {.out_channels = s.head_channels})));
        return l.classifier(l.global_pool(x), classes);
    });
}

}  // namespace

std::vector<Architecture> shufflenet_architectures() {
    std::vector<Architecture> all;
    for (const ShuffleNet& s :
         {ShuffleNet{"shufflenet_v2_x0_5", {48, 96, 192}, 1024}, ShuffleNet{"shufflenet_v2_x1_0", {116, 232, 464}, 1024},
          ShuffleNet{"shufflenet_v2_x1_5", {176, 352, 704}, 1024}, ShuffleNet{"shufflenet_v2_x2_0", {244, 488, 976}, 2048}})
        all.push_back({{s.name}, [s](NetworkBuilder& n, std::int64_t classes) { build_shufflenet(n, s, classes); }});
    return all;
}

}  // namespace sextant
