// Swin (Liu et al., arXiv 2103.14030): attention among the pixels of a window, every other time of windows shifted by half, and images
// that four pixels become one of. As in torchvision, and the authors' code: scores are written out, for a learned bias is added to them.
#include "model/base/ceil_divide.hpp"
#include "model/workload/convolutional_families.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sextant {

Image Layers::window_attention(Image x, std::int64_t heads, std::int64_t px, bool shifted) {
    require_cut("heads of an attention", heads);
    shifted = shifted && std::max(x.height, x.width) > px;  // one window has nowhere to go
    const auto copy = [](double elements) { return Pointwise{PointwiseKind::copy, elements}; };
    const auto write = [&](std::string name, OperatorKind kind, std::vector<TensorId> inputs, std::vector<std::int64_t> shape,
                           double parameters = 0) {
        Operator op;
        op.name = std::move(name);
        op.kind = kind;
        op.inputs = std::move(inputs);
        op.parameters = parameters;
        return graph_.add(std::move(op), std::move(shape), TensorRole::activation);
    };
    const Image image = x = shared(x);
    if (shifted) x = emit("shift", copy(elements_here(x)), {x.id}, x);
    const std::int64_t tensor = context_.shard.tensor, here = std::max<std::int64_t>(1, heads / tensor);
    const std::int64_t dim = x.channels / heads, width = here * dim, pixels = px * px;
    const std::int64_t windows = context_.shard.micro_batch * ceil_divide(x.height, px) * ceil_divide(x.width, px);
    const std::int64_t tokens = windows * pixels, matrices = windows * here;  // the last windows may lack pixels, and are filled
    const std::vector<std::int64_t> rows{tokens, width}, scores{matrices, pixels, pixels};

    const TensorId in = write("windows", copy(static_cast<double>(tokens * x.channels)), {x.id}, {tokens, x.channels});
    const double of_qkv = static_cast<double>(3 * width) * static_cast<double>(x.channels + 1);
    TensorId q = write("qkv", Gemm{.m = tokens, .n = 3 * width, .k = x.channels}, {in}, rows, of_qkv);
    const TensorId k = graph_.also("qkv.k", rows, TensorRole::activation), v = graph_.also("qkv.v", rows, TensorRole::activation);
    const double root = std::sqrt(static_cast<double>(dim)), scored = static_cast<double>(matrices * pixels * pixels);
    q = write("scale", Pointwise{.kind = PointwiseKind::scale, .elements = static_cast<double>(tokens * width), .constant = 1 / root}, {q},
              rows);
    TensorId p = write("scores", Gemm{.batch = matrices, .m = pixels, .n = pixels, .k = dim, .weight = false}, {q, k}, scores);
    const double distances = static_cast<double>((2 * px - 1) * (2 * px - 1));
    p = write("position bias", Pointwise{PointwiseKind::bias, scored}, {p}, scores, distances * static_cast<double>(here));
    if (shifted) p = write("mask", Pointwise{PointwiseKind::mask, scored}, {p}, scores);
    p = write("softmax", Softmax{.rows = matrices * pixels, .width = pixels}, {p}, scores);
    const TensorId sum = write("values", Gemm{.batch = matrices, .m = pixels, .n = dim, .k = pixels, .weight = false}, {p, v}, rows);
    const double of_project = static_cast<double>(x.channels) * static_cast<double>(width + 1);
    const TensorId out = write("project", Gemm{.m = tokens, .n = x.channels, .k = width}, {sum}, {tokens, x.channels}, of_project);
    Image y = image;
    y.summed = false;
    y = emit("image", copy(elements_here(y)), {out}, y);
    if (shifted) y = emit("shift back", copy(elements_here(y)), {y.id}, y);
    return tensor == 1 ? y : exchange("project.sum", y, {.forward = ExchangeKind::all_reduce, .elements = elements_here(y)});
}

Image Layers::merge_pixels(Image x) {
    x = whole(x);
    Image y = x;
    y.channels *= 4;
    y.height = (x.height + 1) / 2;
    y.width = (x.width + 1) / 2;
    return emit("merge", Pointwise{PointwiseKind::copy, elements_here(y)}, {x.id}, y);
}

namespace {

struct Swin {
    std::vector<std::string> names;
    std::array<int, 4> blocks;     // per stage
    std::int64_t channels, heads;  // of the first stage; each later one has twice those before it
};

Image swin_block(Layers& l, Image x, std::int64_t heads, bool shifted) {
    constexpr std::int64_t window_px = 7;
    x = l.add("attention.add", x, l.window_attention(l.norm("norm1", x, NormKind::layer), heads, window_px, shifted));
    const Image y = l.activation(l.linear("expand", l.norm("norm2", x, NormKind::layer), 4 * x.channels), PointwiseKind::gelu);
    return l.add("mlp.add", x, l.linear("contract", y, x.channels));
}

// A stage is one block: each of its blocks begins with a norm that a compiler joins to the addition before it.
void build_swin(NetworkBuilder& network, const Swin& s, std::int64_t classes) {
    network.block("stem", BlockRole::input, [&](Layers& l, Image x) {
        return l.conv("conv", x, {.out_channels = s.channels, .kernel = 4, .stride = 4, .padding = 0, .bias = true});
    });
    for (std::size_t stage = 0; stage < s.blocks.size(); ++stage)
        network.block("stage " + std::to_string(stage + 1), BlockRole::layer, [&](Layers& l, Image x) {
            if (stage == 0) x = l.norm("stem.norm", x, NormKind::layer);
            for (int i = 0; i < s.blocks[stage]; ++i) x = swin_block(l, x, s.heads << stage, i % 2 == 1);
            if (stage + 1 == s.blocks.size()) return l.norm("norm", x, NormKind::layer);
            return l.linear("reduce", l.norm("merge.norm", l.merge_pixels(x), NormKind::layer), 2 * x.channels, false);
        });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(l.global_pool(x), classes); });
}

}  // namespace

std::vector<Architecture> swin_architectures() {
    std::vector<Architecture> all;
    for (const Swin& s : {Swin{{"swin_t", "swin_tiny_patch4_window7_224"}, {2, 2, 6, 2}, 96, 3},
                          Swin{{"swin_s", "swin_small_patch4_window7_224"}, {2, 2, 18, 2}, 96, 3},
                          Swin{{"swin_b", "swin_base_patch4_window7_224"}, {2, 2, 18, 2}, 128, 4},
                          Swin{{"swin_l", "swin_large_patch4_window7_224"}, {2, 2, 18, 2}, 192, 6}})
        all.push_back({s.names, [s](NetworkBuilder& n, std::int64_t classes) { build_swin(n, s, classes); }});
    return all;
}

}  // namespace sextant
