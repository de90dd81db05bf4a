#include "model/workload/images/layers.hpp"

#include "model/base/ceil_divide.hpp"
#include "model/workload/builders.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace sextant {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

void report_once(Diagnostics& problems, const Diagnostic& problem) {
    if (std::find(problems.list().begin(), problems.list().end(), problem) == problems.list().end()) problems.add(problem);
}

}  // namespace

std::optional<std::string> activation_name(PointwiseKind kind) {
    switch (kind) {
        case PointwiseKind::relu: return "relu";
        case PointwiseKind::relu6: return "relu6";
        case PointwiseKind::squared_relu: return "squared_relu";
        case PointwiseKind::gelu: return "gelu";
        case PointwiseKind::silu: return "silu";
        case PointwiseKind::sigmoid: return "sigmoid";
        case PointwiseKind::tanh: return "tanh";
        default: return std::nullopt;
    }
}

void require_activation(Diagnostics& problems, std::string pointer, PointwiseKind kind) {
    if (activation_name(kind)) return;
    problems.add({.file = {},
                  .pointer = std::move(pointer),
                  .what = "not an activation function",
                  .hint = "relu, relu6, squared_relu, gelu, silu, sigmoid or tanh"});
}

std::optional<std::int64_t> window_count(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                                         bool round_up) {
    const std::int64_t room = extent + 2 * padding - kernel;
    if (room < 0) return std::nullopt;
    std::int64_t count = (room + (round_up ? stride - 1 : 0)) / stride + 1;
    if (round_up && (count - 1) * stride >= extent + padding) --count;
    return count;
}

Layers::Layers(LayerContext& context, Image input, std::vector<Image> beside)
    : context_(context), input_(input), beside_(std::move(beside)) {
    input_.id = graph_.input("input", shape_here(input));
    if (input.needed) graph_.keep_for_writer(input_.id);
    for (Image& x : beside_) x.id = graph_.input("beside", shape_here(x));
}

double Layers::elements_here(Image x) const { return real(rows(x)) * real(channels_here(x)); }

std::int64_t Layers::rows(Image x) const { return context_.shard.micro_batch * x.height * x.width; }

std::vector<std::int64_t> Layers::shape_here(Image x) const {
    if (x.height == 1 && x.width == 1) return {context_.shard.micro_batch, channels_here(x)};
    return {context_.shard.micro_batch, channels_here(x), x.height, x.width};
}

TensorId Layers::write(std::string name, OperatorKind kind, std::vector<TensorId> inputs, std::vector<std::int64_t> shape,
                       double parameters, TensorRole role) {
    Operator op;
    op.name = std::move(name);
    op.kind = std::move(kind);
    op.inputs = std::move(inputs);
    op.parameters = parameters;
    return graph_.add(std::move(op), std::move(shape), role);
}

Image Layers::emit(std::string name, OperatorKind kind, std::vector<TensorId> inputs, Image out, double parameters, TensorRole role) {
    out.id = write(std::move(name), std::move(kind), std::move(inputs), shape_here(out), parameters, role);
    if (parameters > 0) out.summed = false;  // from here on somebody waits for the gradient
    return out;
}

Image Layers::rearrange(std::string name, Image from, Image to, std::vector<CopyAxis> order) {
    return emit(std::move(name), Pointwise{.kind = PointwiseKind::copy, .elements = elements_here(to), .order = std::move(order)},
                {from.id}, to);
}

Image Layers::exchange(std::string name, Image x, Exchange e, TensorRole role) {
    const TensorId in = x.id;
    x.cut = false;
    return emit(std::move(name), e, {in}, x, 0, role);
}

std::int64_t Layers::size_after(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t padding, bool round_up) {
    if (const auto count = window_count(extent, kernel, stride, padding, round_up)) return *count;
    report_once(context_.problems,
                {.file = {},
                 .pointer = context_.size_pointer,
                 .what = "the image is too small: a window of convolution or pooling does not fit into what is left of it",
                 .hint = "a larger image, or fewer strides before"});
    return 1;
}

void Layers::require_cut(const char* what, std::int64_t extent) {
    Diagnostics found;
    require_divides(found, "/plan/tp", "tp", context_.shard.tensor, what, extent);
    for (const Diagnostic& problem : found.list()) report_once(context_.problems, problem);
}

Image Layers::conv(const std::string& name, Image x, ConvLayer c) {
    const bool grouped = c.groups > 1;  // reads only its own channels: stays as its input is
    if (!grouped) x = shared(x);
    Image y = x;
    y.channels = c.out_channels;
    y.cut = grouped ? x.cut : context_.shard.tensor > 1;
    const std::int64_t kernel_w = c.kernel_w.value_or(c.kernel);
    const std::int64_t reach_h = (c.kernel - 1) * c.dilation, reach_w = (kernel_w - 1) * c.dilation;
    const std::int64_t padding_h = c.padding.value_or(reach_h / 2), padding_w = c.padding.value_or(reach_w / 2);
    y.height = size_after(x.height, reach_h + 1, c.stride, padding_h, false);
    y.width = size_after(x.width, reach_w + 1, c.stride, padding_w, false);
    std::int64_t groups = c.groups;
    if (y.cut) {
        require_cut("output channels of a convolution", c.out_channels);
        if (grouped) require_cut("groups of a convolution", groups);
        if (grouped) groups = std::max<std::int64_t>(1, groups / context_.shard.tensor);
    }
    const Convolution kind{.batch = context_.shard.micro_batch,
                           .in_channels = channels_here(x),
                           .out_channels = channels_here(y),
                           .in_h = x.height,
                           .in_w = x.width,
                           .out_h = y.height,
                           .out_w = y.width,
                           .kernel_h = c.kernel,
                           .kernel_w = kernel_w,
                           .stride = c.stride,
                           .groups = groups,
                           .padding_h = padding_h,
                           .padding_w = padding_w,
                           .dilation = c.dilation};
    const double weights = real(kind.out_channels) * real(kind.in_channels / groups) * real(c.kernel) * real(kernel_w);
    return emit(name, kind, {x.id}, y, weights + (c.bias ? real(kind.out_channels) : 0));
}

Image Layers::standardized_conv(const std::string& name, Image x, const ConvLayer& c, bool scaled) {
    const std::int64_t filters = x.cut || context_.shard.tensor > 1 ? c.out_channels / context_.shard.tensor : c.out_channels;
    const std::int64_t each = x.channels / c.groups * c.kernel * c.kernel;
    const Pointwise standardize{PointwiseKind::scale, real(filters) * real(each)};
    write(name + ".standardize", standardize, {}, {filters, each}, scaled ? real(filters) : 0);
    graph_.stands_for("standardized filters");
    return conv(name, x, c);
}

Image Layers::transposed_conv(const std::string& name, Image x, ConvLayer c, std::int64_t height, std::int64_t width) {
    x = shared(x);
    Image y = x;
    y.channels = c.out_channels;
    y.cut = context_.shard.tensor > 1;
    if (y.cut) require_cut("output channels of a transposed convolution", c.out_channels);
    y.height = height;
    y.width = width;
    const std::int64_t padding = c.padding.value_or(0);
    const Convolution kind{.batch = context_.shard.micro_batch,
                           .in_channels = channels_here(x),
                           .out_channels = channels_here(y),
                           .in_h = x.height,
                           .in_w = x.width,
                           .out_h = height,
                           .out_w = width,
                           .kernel_h = c.kernel,
                           .kernel_w = c.kernel,
                           .stride = c.stride,
                           .padding_h = padding,
                           .padding_w = padding,
                           .transposed = true};
    const double weights = real(kind.in_channels) * real(kind.out_channels) * real(c.kernel) * real(c.kernel);
    return emit(name, kind, {x.id}, y, weights + (c.bias ? real(kind.out_channels) : 0));
}

Image Layers::linear(const std::string& name, Image x, std::int64_t out, bool bias, TensorRole role) {
    const bool cut_by_input = x.cut;
    if (!cut_by_input) x = shared(x);
    Image y = x;
    y.channels = out;
    y.cut = !cut_by_input && context_.shard.tensor > 1;
    if (y.cut) require_cut("outputs of a linear layer", out);
    const Gemm kind{.m = rows(x), .n = channels_here(y), .k = channels_here(x)};
    const double parameters = real(kind.n) * real(kind.k) + (bias ? real(kind.n) : 0);
    y = emit(name, kind, {x.id}, y, parameters, role);
    if (!cut_by_input) return y;
    return exchange(name + ".sum", y, {.forward = ExchangeKind::all_reduce, .elements = elements_here(y)}, role);
}

Image flatten(Image x) {
    x.channels *= x.height * x.width;
    x.height = x.width = 1;
    return x;
}

Image other_tokens(Image line, std::int64_t first) {
    line.height -= first;
    return line;
}

Image Layers::norm(const std::string& name, Image x, NormKind kind, std::int64_t groups, bool shifts) {
    if (kind != NormKind::batch) x = whole(x);
    Normalization n{.kind = kind, .rows = rows(x), .width = channels_here(x)};
    if (kind == NormKind::batch) std::swap(n.rows, n.width);
    if (kind == NormKind::group) n = {kind, context_.shard.micro_batch * groups, x.channels / groups * x.height * x.width};
    const std::int64_t vectors = kind == NormKind::rms ? 1 : 2;  // weight and bias; mean and deviation
    x = emit(name, n, {x.id}, x, real(shifts ? vectors : 1) * real(channels_here(x)));
    graph_.also(name + ".statistics", {vectors, n.rows}, TensorRole::statistic);
    return x;
}

Image Layers::norm_without_weights(const std::string& name, Image x) {
    x = whole(x);
    return emit(name, Normalization{.rows = rows(x), .width = x.channels}, {x.id}, x);
}

Image Layers::activation(Image x, PointwiseKind kind, bool in_place) {
    return emit(activation_name(kind).value_or("activation"), Pointwise{kind, elements_here(x), in_place}, {x.id}, x);
}

Image Layers::dropout(Image x, double fraction) {
    if (!training()) return x;
    const Pointwise dropout{.kind = PointwiseKind::dropout, .elements = elements_here(x), .constant = fraction};
    x = emit("dropout", dropout, {x.id}, x);
    graph_.also("dropout.mask", shape_here(x), TensorRole::mask);
    return x;
}

Image Layers::pool(const std::string& name, Image x, PoolLayer p) {
    Image y = x;
    y.height = size_after(x.height, p.kernel, p.stride, p.padding, p.round_up);
    y.width = size_after(x.width, p.kernel, p.stride, p.padding, p.round_up);
    return emit(name, Pooling{p.kind, p.kernel * p.kernel, p.kernel, p.stride, p.padding}, {x.id}, y);
}

Image Layers::pad(const std::string& name, Image x, std::int64_t pixels) {
    Image y = x;
    y.height += 2 * pixels;
    y.width += 2 * pixels;
    return standing_for("padding by a pass of its own", emit(name, Pointwise{PointwiseKind::copy, elements_here(y)}, {x.id}, y));
}

Image Layers::global_pool(Image x) {
    Image y = x;
    y.height = y.width = 1;
    return emit("global pool", Pooling{PoolingKind::global_average, x.height * x.width}, {x.id}, y);
}

Image Layers::blur(const std::string& name, Image x, std::int64_t stride) {
    constexpr std::int64_t kernel = 3, reach = kernel / 2;
    const Image padded = pad(name + ".pad", x, reach);
    Image y = x;
    y.height = size_after(x.height, kernel, stride, reach, false);
    y.width = size_after(x.width, kernel, stride, reach, false);
    const std::int64_t channels = channels_here(x);
    const Convolution fixed{.batch = context_.shard.micro_batch,
                            .in_channels = channels,
                            .out_channels = channels,
                            .in_h = padded.height,
                            .in_w = padded.width,
                            .out_h = y.height,
                            .out_w = y.width,
                            .kernel_h = kernel,
                            .kernel_w = kernel,
                            .stride = stride,
                            .groups = channels};
    return standing_for("blurs by fixed filters", emit(name, fixed, {padded.id}, y));
}

Image Layers::average_pool_to(Image x, std::int64_t px) {
    if (x.height == px && x.width == px) return x;
    Image y = x;
    y.height = y.width = px;
    const std::int64_t window = ceil_divide(x.height, px) * ceil_divide(x.width, px);
    return emit("average pool", Pooling{PoolingKind::average, window}, {x.id}, y);
}

Image Layers::add(const std::string& name, Image a, Image b) {
    if (a.cut != b.cut) {
        a = whole(a);
        b = whole(b);
    }
    Image y = a;
    y.summed = a.summed && b.summed;
    return emit(name, Pointwise{PointwiseKind::add, elements_here(a)}, {a.id, b.id}, y);
}

Image Layers::gate(const std::string& name, Image x, Image factor) {
    return emit(name, Pointwise{PointwiseKind::multiply, elements_here(x)}, {x.id, factor.id}, x);
}

Image Layers::scale(const std::string& name, Image x) {
    return emit(name, Pointwise{PointwiseKind::multiply, elements_here(x)}, {x.id}, x, real(channels_here(x)));
}

Image Layers::scale_whole(const std::string& name, Image x) {
    x = emit(name, Pointwise{PointwiseKind::multiply, elements_here(x)}, {x.id}, x, 1);
    return standing_for("one learned factor for an image", x);
}

Image Layers::shift_whole(const std::string& name, Image x) {
    x = emit(name, Pointwise{PointwiseKind::add, elements_here(x)}, {x.id}, x, 1);
    return standing_for("one learned number for an image", x);
}

Image Layers::scale_and_shift(const std::string& name, Image x) {
    x = emit(name, Pointwise{PointwiseKind::multiply, elements_here(x)}, {x.id}, x, 2 * real(channels_here(x)));
    return standing_for("scales with shifts", x);
}

Image Layers::times(Image x, double factor) {
    return emit("scale", Pointwise{.kind = PointwiseKind::scale, .elements = elements_here(x), .constant = factor}, {x.id}, x);
}

Image Layers::standing_for(const std::string& what, Image x) {
    graph_.stands_for(what);
    return x;
}

Image Layers::squeeze_excite(Image x, std::int64_t squeezed, PointwiseKind kind) {
    const Image s = activation(linear("squeeze", global_pool(x), squeezed), kind);
    return gate("gate", x, activation(linear("excite", s, x.channels), PointwiseKind::sigmoid));
}

Image Layers::weigh_by_neighbours(Image x) {
    x = whole(x);
    const auto near = static_cast<std::int64_t>((std::log2(real(x.channels)) + 1) / 2);
    const std::int64_t kernel = std::max<std::int64_t>(3, near / 2 * 2 + 1);
    const Image averages = global_pool(x);
    const Convolution over_channels{
        .batch = context_.shard.micro_batch, .in_w = x.channels, .out_w = x.channels, .kernel_w = kernel, .padding_w = kernel / 2};
    const Image mixed =
        standing_for("convolutions over channels", emit("neighbours", over_channels, {averages.id}, averages, real(kernel)));
    return gate("gate", x, activation(mixed, PointwiseKind::sigmoid));
}

Image Layers::perceptron(Image x, std::int64_t wide, const std::string& prefix) {
    return linear(prefix + "contract", activation(linear(prefix + "expand", x, wide), PointwiseKind::gelu), x.channels);
}

Image Layers::gated_perceptron(Image x, std::int64_t wide, bool packed, bool norm_inside) {
    Image gate_of = linear(packed ? "expand" : "gate", x, packed ? 2 * wide : wide), y;
    if (packed) {
        std::tie(gate_of, y) = halves(gate_of);
    } else {
        y = linear("expand", x, wide);
    }
    y = gate("open", activation(gate_of, PointwiseKind::silu), y);
    return linear("contract", norm_inside ? norm("inner.norm", y, NormKind::layer) : y, x.channels);
}

Image Layers::concatenate(std::vector<Image> images) {
    const bool all_cut = std::ranges::all_of(images, &Image::cut);
    for (Image& x : images)
        if (!all_cut) x = whole(x);
    Image y = images.front();
    y.channels = 0;
    std::vector<TensorId> inputs;
    for (const Image& x : images) {
        y.channels += x.channels;
        y.summed = y.summed && x.summed;
        inputs.push_back(x.id);
    }
    return emit("concatenate", Pointwise{PointwiseKind::copy, elements_here(y)}, std::move(inputs), y);
}

Image Layers::classifier(Image x, std::int64_t classes) {
    return loss(linear("classifier", flatten(x), classes, true, TensorRole::logits));
}

Image Layers::pixel_classifier(Image x, std::int64_t classes, const Image& like) {
    Image logits = linear("classifier", x, classes, true, TensorRole::logits);
    const bool as_large = x.height == like.height && x.width == like.width;
    return loss(as_large ? logits : enlarge(logits, like, PointwiseKind::interpolate, TensorRole::logits));
}

Image Layers::enlarge(Image x, const Image& like, PointwiseKind by, TensorRole role) {
    Image y = x;
    y.height = like.height;
    y.width = like.width;
    return emit("enlarge", Pointwise{by, elements_here(y)}, {x.id}, y, 0, role);
}

Image Layers::loss(Image logits) {
    if (logits.cut) {
        const Exchange gather{.forward = ExchangeKind::all_gather, .elements = real(rows(logits)) * real(logits.channels)};
        logits = exchange("classifier.gather", logits, gather, TensorRole::logits);
    }
    if (!training()) return logits;
    Image of_each = logits;
    of_each.channels = 1;
    return emit("loss", CrossEntropy{rows(logits), logits.channels}, {logits.id}, of_each, 0, TensorRole::statistic);
}

Image Layers::whole(Image x) {
    if (!x.cut) return x;
    const Exchange gather{.forward = ExchangeKind::all_gather, .elements = real(rows(x)) * real(x.channels)};
    return exchange("gather", x, gather);
}

Image Layers::shared(Image x) {
    if (context_.shard.tensor == 1 || (!x.cut && x.summed)) return x;
    if (const auto known = shared_.find(x.id); known != shared_.end()) return known->second;
    const double elements = real(rows(x)) * real(x.channels);
    const Exchange e = x.cut ? Exchange{ExchangeKind::all_gather, ExchangeKind::reduce_scatter, ParallelGroup::tensor, elements}
                             : Exchange{ExchangeKind::none, ExchangeKind::all_reduce, ParallelGroup::tensor, elements};
    Image y = exchange(x.cut ? "gather" : "sum gradients", x, e);
    y.summed = true;
    shared_.emplace(x.id, y);
    return y;
}

OperatorGraph Layers::build(Image output) && {
    graph_.output(output.id);
    for (const Image& x : beside_) graph_.output(x.id);
    return std::move(graph_).build();
}

NetworkBuilder::NetworkBuilder(LayerContext context, Image data) : context_(std::move(context)), passing_{data} {
    passing_.image.summed = true;
}

void NetworkBuilder::block(const std::string& name, BlockRole role, const Body& body) {
    const auto known = std::find_if(made_.begin(), made_.end(), [&](const Made& m) { return m.name == name && m.in == passing_; });
    network_.sequence.push_back(static_cast<int>(known - made_.begin()));
    if (known != made_.end()) {
        passing_ = known->out;
        return;
    }
    Layers layers(context_, passing_.image, passing_.beside);
    Passing out{body(layers, layers.input()), layers.beside()};
    network_.templates.push_back({name, role, std::move(layers).build(out.image)});
    out.image.needed = leaves_needed_output(network_.templates.back().graph);
    out.image.id = {};
    for (Image& x : out.beside) x.id = {};
    made_.push_back({name, std::exchange(passing_, out), out});
}

Network NetworkBuilder::build() && {
    context_.problems.throw_if_any();
    return std::move(network_);
}

}  // namespace sextant
