// Attention among the pixels of an image, or of its windows.
#include "model/base/ceil_divide.hpp"
#include "model/workload/images/layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace sextant {
namespace {

double elements_of(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

// Of each pair of places in a window, for each head: looked up by their distance, or made of it by a perceptron of 512 hidden units (arXiv
// 2111.09883, section 3.3), whose few rows are left out of the work.
double parameters_of(PositionBias bias, std::int64_t window_px, std::int64_t heads) {
    constexpr std::int64_t hidden = 512, coordinates = 2;
    const std::int64_t side = 2 * window_px - 1;
    return bias == PositionBias::table ? elements_of(side * side, heads) : elements_of(hidden, coordinates + 1 + heads);
}

// How the pixels of an image lie in windows: digits of a pixel's place, window by window and within one.
struct Windows {
    struct Digit {
        std::int64_t extent, in_image, in_windows;  // strides
    };
    std::int64_t images, channels, pixels;
    Digit row, column, row_inside, column_inside;
    bool spread, fit;  // `fit`: no window lacks pixels

    Windows(Image x, std::int64_t images_, const AttentionLayer& a)
        : images(images_), channels(x.channels), pixels(x.height * x.width), spread(a.spread) {
        const std::int64_t px = a.window_px, down = ceil_divide(x.height, px), across = ceil_divide(x.width, px), c = channels;
        const std::int64_t line = x.width * c, area = px * px * c;
        fit = down * px == x.height && across * px == x.width;
        row = {down, spread ? line : px * line, across * area};
        column = {across, spread ? c : px * c, area};
        row_inside = {px, spread ? down * line : line, px * c};
        column_inside = {px, spread ? across * c : c, c};
    }
    [[nodiscard]] std::int64_t count() const { return images * row.extent * column.extent; }
    [[nodiscard]] std::vector<CopyAxis> order() const { return order_of({row, column, row_inside, column_inside}, &Digit::in_image); }
    [[nodiscard]] std::vector<CopyAxis> order_back() const {
        if (spread) return order_of({row_inside, row, column_inside, column}, &Digit::in_windows);
        return order_of({row, row_inside, column, column_inside}, &Digit::in_windows);
    }

private:
    [[nodiscard]] std::vector<CopyAxis> order_of(const std::array<Digit, 4>& digits, std::int64_t Digit::*stride) const {
        if (!fit) return {};
        std::vector<CopyAxis> axes{{images, pixels * channels}};
        for (const Digit& d : digits) axes.push_back({d.extent, d.*stride});
        axes.push_back({channels, 1});
        return axes;
    }
};

}  // namespace

struct Layers::AttentionCore {
    TensorId q{}, k{}, v{};
    std::int64_t groups = 1, queries = 1, keys = 1;  // of all images: groups of pixels that attend to each other
    std::int64_t heads = 1, dim = 1;                 // on this device
    std::int64_t shifted_windows = 0;                // along a side of the image, where they are shifted

    [[nodiscard]] std::vector<std::int64_t> rows() const { return {groups * queries, heads * dim}; }  // of what it makes
};

// Of `x`, which lies in groups already; keys and values of another image, or of a smaller one, where the layer says so.
void Layers::project_qkv(Image x, const AttentionLayer& a, AttentionCore& c) {
    const std::int64_t width = c.heads * c.dim;
    const auto project = [&](std::string name, Image from, std::int64_t count, std::int64_t parts, std::int64_t biases) {
        const Gemm product{.m = c.groups * count, .n = parts * width, .k = from.channels};
        const double parameters = elements_of(product.n, product.k) + static_cast<double>(a.bias == ProjectionBias::none ? 0 : biases);
        return write(std::move(name), product, {from.id}, {product.m, width}, parameters);
    };
    const std::int64_t of_keys = a.bias == ProjectionBias::all ? width : 0;
    const auto also = [&](const char* name, std::int64_t count) {
        return graph_.also(name, {c.groups * count, width}, TensorRole::activation);
    };
    if (a.shrink == 1 && !a.of) {
        c.q = project("qkv", x, c.queries, 3, width + of_keys + width);
        if (a.bias == ProjectionBias::not_keys) graph_.stands_for("queries and values with biases, and keys without,");
        c.k = also("qkv.k", c.queries);
        c.v = also("qkv.v", c.queries);
        return;
    }
    c.q = project("q", x, c.queries, 1, width);
    Image keys = shared(a.of.value_or(x));
    if (a.shrink > 1) {
        const ConvLayer smaller{.out_channels = keys.channels, .kernel = a.shrink, .stride = a.shrink, .padding = 0, .bias = true};
        keys = shared(norm("shrink.norm", conv("shrink", keys, smaller), NormKind::layer));
    }
    c.keys = keys.height * keys.width;
    c.k = project("kv", keys, c.keys, 2, of_keys + width);
    c.v = also("qkv.v", c.keys);
}

// Of pixels, half of the elements of each head by the other half: those change places, both are multiplied by a table and added, and
// learned vectors in front of the pixels stay as they are.
TensorId Layers::rotate(const std::string& name, const AttentionCore& c, TensorId x, std::int64_t count) {
    const std::vector<std::int64_t> shape{c.groups * count, c.heads * c.dim};
    const double elements = elements_of(shape[0], shape[1]);
    const auto pass = [&](const char* what, PointwiseKind kind, std::vector<TensorId> inputs) {
        const TensorId y = write(name + '.' + what, Pointwise{kind, elements}, std::move(inputs), shape);
        graph_.stands_for("rotations by where pixels stand");
        return y;
    };
    const TensorId turned = pass("sine", PointwiseKind::scale, {pass("turn", PointwiseKind::copy, {x})});
    return pass("join", PointwiseKind::copy, {pass("add", PointwiseKind::add, {pass("cosine", PointwiseKind::scale, {x}), turned})});
}

TensorId Layers::fused_attention(const AttentionCore& c) {
    const TensorId out = write("attention",
                               Attention{.batch = c.groups,
                                         .heads = c.heads,
                                         .kv_heads = c.heads,
                                         .query_len = c.queries,
                                         .key_len = c.keys,
                                         .head_dim = c.dim,
                                         .value_dim = c.dim,
                                         .causal = false},
                               {c.q, c.k, c.v}, c.rows());
    graph_.also("attention.lse", {c.groups, c.heads, c.queries}, TensorRole::statistic);
    return out;
}

// A product over the heads of each pair, to which the heads come last, and behind which they come first again.
TensorId Layers::mix_heads(const std::string& name, const AttentionCore& c, TensorId scores) {
    const std::vector<std::int64_t> shape{c.groups * c.heads, c.queries, c.keys};
    const double scored = elements_of(shape[0] * c.queries, c.keys);
    const auto pass = [&](const char* what, const OperatorKind& kind, TensorId x, double parameters = 0) {
        const TensorId y = write(name + '.' + what, kind, {x}, shape, parameters);
        graph_.stands_for("products over the heads of an attention");
        return y;
    };
    const TensorId last = pass("heads last", Pointwise{PointwiseKind::copy, scored}, scores);
    const Gemm product{.m = c.groups * c.queries * c.keys, .n = c.heads, .k = c.heads};
    const TensorId mixed = pass("product", product, last, elements_of(c.heads, c.heads + 1));
    return pass("heads first", Pointwise{PointwiseKind::copy, scored}, mixed);
}

TensorId Layers::written_out_attention(const AttentionLayer& a, AttentionCore c) {
    const std::int64_t matrices = c.groups * c.heads;
    const std::vector<std::int64_t> scores{matrices, c.queries, c.keys};
    const double scored = elements_of(matrices * c.queries, c.keys);
    if (a.by_cosine) {
        const auto normalize = [&](std::string name, TensorId x, std::int64_t count) {
            const Normalization n{.kind = NormKind::rms, .rows = c.groups * count * c.heads, .width = c.dim, .of_heads = true};
            return write(std::move(name), n, {x}, {c.groups * count, c.heads * c.dim});
        };
        c.q = normalize("normalize q", c.q, c.queries);
        c.k = normalize("normalize k", c.k, c.keys);
    } else {
        const Pointwise scale{.kind = PointwiseKind::scale,
                              .elements = elements_of(c.groups * c.queries, c.heads * c.dim),
                              .constant = 1 / std::sqrt(static_cast<double>(c.dim))};
        c.q = write("scale", scale, {c.q}, {c.groups * c.queries, c.heads * c.dim});
    }
    TensorId p = write("scores", Gemm{.batch = matrices, .m = c.queries, .n = c.keys, .k = c.dim, .weight = false}, {c.q, c.k}, scores);
    if (a.by_cosine) {
        p = write("scale", Pointwise{PointwiseKind::multiply, scored}, {p}, scores, static_cast<double>(c.heads));
        graph_.stands_for("scores that are cosines");
    }
    if (a.position_bias != PositionBias::none) {
        const double parameters =
            a.position_rows > 0 ? elements_of(a.position_rows, c.heads) : parameters_of(a.position_bias, a.window_px, c.heads);
        p = write("position bias", Pointwise{PointwiseKind::bias, scored}, {p}, scores, parameters);
        if (a.position_rows > 0) graph_.stands_for("position biases by other tables than of the distances in a window");
    }
    if (c.shifted_windows > 0) {
        const Pointwise mask{.kind = PointwiseKind::mask, .elements = scored, .shifted_windows = c.shifted_windows};
        p = write("mask", mask, {p}, scores);
    }
    if (a.mixes_heads) p = mix_heads("mix scores", c, p);
    p = write("softmax", Softmax{.rows = matrices * c.queries, .width = c.keys}, {p}, scores);
    if (a.mixes_heads) p = mix_heads("mix weights", c, p);
    const Gemm values{.batch = matrices, .m = c.queries, .n = c.dim, .k = c.keys, .weight = false};
    return write("values", values, {p, c.v}, c.rows());
}

Image Layers::roll(const std::string& name, Image x, std::int64_t px) {
    const std::int64_t channels = channels_here(x), line = x.width * channels;
    const auto start = [px](std::int64_t extent) { return (px % extent + extent) % extent; };
    return rearrange(name, x, x,
                     {{context_.shard.micro_batch, x.height * line},
                      {x.height, line, start(x.height)},
                      {x.width, channels, start(x.width)},
                      {channels, 1}});
}

Image Layers::attention(Image x, const AttentionLayer& a) {
    require_cut("heads of an attention", a.heads);
    const std::int64_t tensor = context_.shard.tensor;
    const bool shifted = a.shifted && std::max(x.height, x.width) > a.window_px;  // one window has nowhere to go
    const Image image = x = shared(x);
    if (shifted) x = roll("shift", x, a.window_px / 2);

    AttentionCore c{.heads = std::max<std::int64_t>(1, a.heads / tensor), .dim = x.channels / a.heads};
    c.groups = context_.shard.micro_batch;
    c.queries = c.keys = x.height * x.width;
    std::optional<Windows> in_windows;
    if (a.window_px > 0) {
        in_windows.emplace(x, context_.shard.micro_batch, a);
        c.groups = in_windows->count();
        c.queries = c.keys = a.window_px * a.window_px;
        if (shifted) c.shifted_windows = in_windows->row.extent;
        const std::int64_t rows = c.groups * c.queries;  // the last windows may lack pixels, and are filled
        const Pointwise copy{.kind = PointwiseKind::copy, .elements = elements_of(rows, x.channels), .order = in_windows->order()};
        x.id = write("windows", copy, {x.id}, {rows, x.channels});
    }
    project_qkv(x, a, c);
    if (a.rotates) {
        c.q = rotate("q", c, c.q, c.queries);
        c.k = rotate("k", c, c.k, c.keys);
    }
    const bool plain = a.position_bias == PositionBias::none && !a.by_cosine && !a.mixes_heads;
    TensorId sum = plain && context_.shard.flash_attention ? fused_attention(c) : written_out_attention(a, c);
    if (a.norm_inside) {
        const Normalization n{.rows = c.groups * c.queries, .width = c.heads * c.dim};
        sum = write("inner.norm", n, {sum}, c.rows(), static_cast<double>(2 * n.width));
        if (tensor > 1) graph_.stands_for("norms of all heads, cut,");
    }
    Image y = image;
    y.summed = false;
    const Gemm out{.m = c.groups * c.queries, .n = x.channels, .k = c.heads * c.dim};
    const double parameters = elements_of(out.n, a.project_bias ? out.k + 1 : out.k);
    if (in_windows) {
        Image from = y;
        from.id = write("project", out, {sum}, {c.groups * c.queries, x.channels}, parameters);
        y = rearrange("image", from, y, in_windows->order_back());
    } else {
        y = emit("project", out, {sum}, y, parameters);
    }
    if (shifted) y = roll("shift back", y, -(a.window_px / 2));
    return tensor == 1 ? y : exchange("project.sum", y, {.forward = ExchangeKind::all_reduce, .elements = elements_here(y)});
}

Image Layers::channel_attention(Image x, std::int64_t heads) {
    require_cut("heads of an attention", heads);
    const std::int64_t tensor = context_.shard.tensor, pixels = x.height * x.width, dim = x.channels / heads;
    x = shared(x);
    AttentionCore c{.groups = context_.shard.micro_batch, .queries = pixels, .keys = pixels};
    c.heads = std::max<std::int64_t>(1, heads / tensor);
    c.dim = dim;
    project_qkv(x, {.heads = heads}, c);
    const std::int64_t matrices = c.groups * c.heads;
    const std::vector<std::int64_t> squares{matrices, dim, dim};
    const double scored = elements_of(matrices * dim, dim);
    const auto pass = [&](const char* name, const OperatorKind& kind, std::vector<TensorId> in, const std::vector<std::int64_t>& shape,
                          double parameters = 0) {
        const TensorId y = write(name, kind, std::move(in), shape, parameters);
        graph_.stands_for("attention among channels");
        return y;
    };
    const Normalization over_pixels{.kind = NormKind::rms, .rows = matrices * dim, .width = pixels};
    c.q = pass("normalize q", over_pixels, {c.q}, c.rows());
    c.k = pass("normalize k", over_pixels, {c.k}, c.rows());
    const Gemm alike{.batch = matrices, .m = dim, .n = dim, .k = pixels, .weight = false};
    TensorId p = pass("scores", alike, {c.q, c.k}, squares);
    p = pass("temperature", Pointwise{PointwiseKind::multiply, scored}, {p}, squares, static_cast<double>(c.heads));
    p = pass("softmax", Softmax{.rows = matrices * dim, .width = dim}, {p}, squares);
    const Gemm values{.batch = matrices, .m = dim, .n = pixels, .k = dim, .weight = false};
    const TensorId sum = pass("values", values, {p, c.v}, c.rows());
    const TensorId lines = pass("pixels", Pointwise{PointwiseKind::copy, elements_of(c.groups * pixels, c.heads * dim)}, {sum}, c.rows());
    const Gemm out{.m = c.groups * pixels, .n = x.channels, .k = c.heads * dim};
    Image y = x;
    y.summed = false;
    y = emit("project", out, {lines}, y, elements_of(out.n, out.k + 1));
    return tensor == 1 ? y : exchange("project.sum", y, {.forward = ExchangeKind::all_reduce, .elements = elements_here(y)});
}

Image Layers::attention_and_perceptron(Image x, const AttentionLayer& a) {
    x = add("attention.add", x, attention(norm("norm1", x, NormKind::layer), a));
    return add("mlp.add", x, perceptron(norm("norm2", x, NormKind::layer), 4 * x.channels));
}

}  // namespace sextant
