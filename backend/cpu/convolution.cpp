// Convolutions by oneDNN, on images that lie channels last. Weights lie [out_channels, in_channels / groups, height, width]; oneDNN chooses
// a format of its own for each pass, so they are rearranged on the way. What a transposed convolution does forward, the underlying one does
// backward, and the reverse.
#include "backend/cpu/operators.hpp"
#include "model/base/ceil_divide.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sextant::cpu {
namespace {

using Dims = dnnl::memory::dims;
using Format = dnnl::memory::format_tag;

dnnl::memory::desc describe(const Dims& dims, Format format, Element e = Element::real) { return {dims, type_of(e), format}; }

// Pixels behind the last row or column that the windows still reach.
std::int64_t padding_behind(const Convolution& c, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t before) {
    return std::max<std::int64_t>(0, c.covered(out, kernel) - in - before);
}

struct Shape {
    dnnl::memory::desc in, out, bias, weights, any_weights;
    dnnl::memory::desc bias_gradient, weight_gradient, any_weight_gradient;  // in fp32, whatever the others are in
    Dims stride, skipped, padding_before, padding_after;                     // skipped: pixels between those that a window reads
    std::vector<std::int64_t> key;

    Shape(const Convolution& c, bool biased, Element e)
        : in(describe({c.batch, c.in_channels, c.in_h, c.in_w}, Format::nhwc, e)),
          out(describe({c.batch, c.out_channels, c.out_h, c.out_w}, Format::nhwc, e)),
          stride{c.stride, c.stride},
          skipped{c.dilation - 1, c.dilation - 1},
          padding_before{c.padding_h, c.padding_w},
          padding_after{padding_behind(c, c.in_h, c.out_h, c.kernel_h, c.padding_h),
                        padding_behind(c, c.in_w, c.out_w, c.kernel_w, c.padding_w)},
          key{c.batch,    c.in_channels, c.out_channels, c.in_h,      c.in_w,      c.out_h,    c.out_w, c.kernel_h,
              c.kernel_w, c.stride,      c.groups,       c.padding_h, c.padding_w, c.dilation, biased,  bytes_of(e)} {
        const std::int64_t to = c.out_channels / c.groups, from = c.in_channels / c.groups;
        const Dims dims = c.groups > 1 ? Dims{c.groups, to, from, c.kernel_h, c.kernel_w} : Dims{to, from, c.kernel_h, c.kernel_w};
        const Format format = c.groups > 1 ? Format::goihw : Format::oihw;
        weights = describe(dims, format, e);
        weight_gradient = describe(dims, format);
        any_weights = describe(dims, Format::any, e);
        any_weight_gradient = describe(dims, Format::any);
        if (!biased) return;
        bias = describe({c.out_channels}, Format::a, e);
        bias_gradient = describe({c.out_channels}, Format::a);
    }

    [[nodiscard]] dnnl::convolution_forward::primitive_desc forward(const dnnl::engine& engine) const {
        return {{dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, in, any_weights, bias, out, stride, skipped,
                 padding_before, padding_after},
                engine};
    }
};

// A pass over one shape: the primitive, the format in which it wants the weights, and the way there or back.
struct Pass {
    dnnl::primitive primitive;
    dnnl::memory::desc weights;
    dnnl::reorder rearrange;
};

dnnl::reorder rearrangement(const dnnl::engine& engine, const dnnl::memory::desc& from, const dnnl::memory::desc& to, bool adding) {
    dnnl::primitive_attr attributes;
    if (adding) {
        dnnl::post_ops sum;
        sum.append_sum(1);
        attributes.set_post_ops(sum);
    }
    return dnnl::reorder(dnnl::reorder::primitive_desc(engine, from, engine, to, attributes));
}

Pass make_forward(const dnnl::engine& engine, const Shape& s) {
    const auto d = s.forward(engine);
    return {dnnl::convolution_forward(d), d.weights_desc(), rearrangement(engine, s.weights, d.weights_desc(), false)};
}

Pass make_input_gradient(const dnnl::engine& engine, const Shape& s) {
    const dnnl::convolution_backward_data::primitive_desc d(
        {dnnl::algorithm::convolution_direct, s.in, s.any_weights, s.out, s.stride, s.skipped, s.padding_before, s.padding_after}, engine,
        s.forward(engine));
    return {dnnl::convolution_backward_data(d), d.weights_desc(), rearrangement(engine, s.weights, d.weights_desc(), false)};
}

Pass make_weight_gradient(const dnnl::engine& engine, const Shape& s) {
    const dnnl::convolution_backward_weights::primitive_desc d(
        {dnnl::algorithm::convolution_direct, s.in, s.any_weight_gradient, s.bias_gradient, s.out, s.stride, s.skipped, s.padding_before,
         s.padding_after},
        engine, s.forward(engine));
    return {dnnl::convolution_backward_weights(d), d.diff_weights_desc(),
            rearrangement(engine, d.diff_weights_desc(), s.weight_gradient, true)};
}

dnnl::memory in_scratch(Engine& e, const dnnl::memory::desc& d) {
    return e.wrap(d, e.scratch.reals(static_cast<std::int64_t>(ceil_divide(d.get_size(), sizeof(float)))));
}

dnnl::memory rearranged(Engine& e, const Pass& pass, const Shape& s, const Array& weights) {
    dnnl::memory from = e.wrap(s.weights, weights.memory.get()), to = in_scratch(e, pass.weights);
    pass.rearrange.execute(e.stream, from, to);
    return to;
}

// Gradients of the weights of pointwise convolutions that skip pixels: on AVX2 oneDNN 2.6 copies the others together, and writes behind
// that copy where the channels of a pixel do not fill a register. Here they are copied before it sees them.
bool overruns(const Convolution& k) {
    constexpr std::int64_t channels_of_register = 8;
    return k.kernel_h * k.kernel_w == 1 && k.stride > 1 && k.padding_h + k.padding_w == 0 && k.in_channels < channels_of_register;
}

Convolution without_skipped_pixels(Convolution k) {
    k.in_h = k.out_h;
    k.in_w = k.out_w;
    k.stride = 1;
    return k;
}

dnnl::memory pixels_not_skipped(Engine& e, const Convolution& k, const Array& image) {
    const Dims dims{k.batch, k.in_channels, k.out_h, k.out_w};
    const Dims strides{k.in_h * k.in_w * k.in_channels, 1, k.stride * k.in_w * k.in_channels, k.stride * k.in_channels};
    const dnnl::memory::desc every_nth(dims, type_of(image.element), strides), all = describe(dims, Format::nhwc, image.element);
    dnnl::memory from = e.wrap(every_nth, image.memory.get()), to = in_scratch(e, all);
    rearrangement(e.engine, every_nth, all, false).execute(e.stream, from, to);
    return to;
}

void convolve(Engine& e, const Shape& s, const Array& image, std::span<const Array> weights, const Array& result) {
    const Pass& pass = e.cached<Pass>("convolution", s.key, [&] { return make_forward(e.engine, s); });
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, e.wrap(s.in, image.memory.get())},
                                                    {DNNL_ARG_WEIGHTS, rearranged(e, pass, s, weights[0])},
                                                    {DNNL_ARG_DST, e.wrap(s.out, result.memory.get())}};
    if (s.bias) arguments.emplace(DNNL_ARG_BIAS, e.wrap(s.bias, weights[1].memory.get()));
    pass.primitive.execute(e.stream, arguments);
}

void convolve_back(Engine& e, const Shape& s, const Array& gradient, const Array& weights, const Array& image_gradient) {
    const Pass& pass = e.cached<Pass>("convolution input", s.key, [&] { return make_input_gradient(e.engine, s); });
    pass.primitive.execute(e.stream, {{DNNL_ARG_DIFF_DST, e.wrap(s.out, gradient.memory.get())},
                                      {DNNL_ARG_WEIGHTS, rearranged(e, pass, s, weights)},
                                      {DNNL_ARG_DIFF_SRC, e.wrap(s.in, image_gradient.memory.get())}});
}

// `sums`: of weights, and of a bias where the shape has one.
void add_weight_gradient(Engine& e, const Shape& s, const dnnl::memory& image, const Array& gradient, std::span<const Array> sums) {
    const std::int64_t channels = s.out.dims()[1];
    const Pass& pass = e.cached<Pass>("convolution weight", s.key, [&] { return make_weight_gradient(e.engine, s); });
    dnnl::memory found = in_scratch(e, pass.weights), sum = e.wrap(s.weight_gradient, sums[0].reals());
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, image}, {DNNL_ARG_DIFF_DST, e.wrap(s.out, gradient.memory.get())}, {DNNL_ARG_DIFF_WEIGHTS, found}};
    float* bias = s.bias ? e.scratch.reals(channels) : nullptr;
    if (s.bias) arguments.emplace(DNNL_ARG_DIFF_BIAS, e.wrap(s.bias_gradient, bias));
    pass.primitive.execute(e.stream, arguments);
    pass.rearrange.execute(e.stream, found, sum);
    if (s.bias) add_column_sums(bias, sums[1].reals(), 1, channels);
}

// oneDNN 2.6 has code for gradients of depthwise filters of up to 3 x 3. Larger ones it makes for 16 channels of which it needs one: 2 us
// a filter, however small the image (a core of an EPYC, Zen 4).
bool is_large_depthwise(const Convolution& k) {
    return k.groups > 1 && k.groups == k.in_channels && k.groups == k.out_channels && std::max(k.kernel_h, k.kernel_w) > 3;
}

// work(pixel of the image, pixel of the result) for all of both that one element of the filters joins.
template <class Work>
void for_each_pair(const Convolution& k, std::int64_t row, std::int64_t column, const Work& work) {
    for (std::int64_t b = 0; b < k.batch; ++b)
        for (std::int64_t y = 0; y < k.out_h; ++y) {
            const std::int64_t in_y = y * k.stride + row * k.dilation - k.padding_h;
            if (in_y < 0 || in_y >= k.in_h) continue;
            for (std::int64_t x = 0; x < k.out_w; ++x) {
                const std::int64_t in_x = x * k.stride + column * k.dilation - k.padding_w;
                if (in_x >= 0 && in_x < k.in_w) work((b * k.in_h + in_y) * k.in_w + in_x, (b * k.out_h + y) * k.out_w + x);
            }
        }
}

void add_depthwise_gradient(const Convolution& k, const Array& image, const Array& gradient, std::span<const Array> sums) {
    constexpr std::int64_t together = 32;  // channels, whose sums stay in registers
    const std::int64_t channels = k.groups, elements = k.kernel_h * k.kernel_w;
    for (std::int64_t first = 0; first < channels; first += together) {
        const std::int64_t count = std::min(together, channels - first);
        for (std::int64_t at = 0; at < elements; ++at) {
            std::array<float, together> sum{};
            for_each_pair(k, at / k.kernel_w, at % k.kernel_w, [&](std::int64_t in, std::int64_t out) {
                const float *x = image.reals() + in * channels + first, *dy = gradient.reals() + out * channels + first;
                if (count == together)
                    for (std::int64_t c = 0; c < together; ++c) sum[static_cast<std::size_t>(c)] += x[c] * dy[c];
                else
                    for (std::int64_t c = 0; c < count; ++c) sum[static_cast<std::size_t>(c)] += x[c] * dy[c];
            });
            for (std::int64_t c = 0; c < count; ++c) sums[0].reals()[(first + c) * elements + at] += sum[static_cast<std::size_t>(c)];
        }
    }
    if (sums.size() > 1) add_column_sums(gradient, sums[1].reals(), k.batch * k.out_h * k.out_w, channels);
}

void add_weight_gradient(Engine& e, const Convolution& k, bool biased, const Array& image, const Array& gradient,
                         std::span<const Array> sums) {
    if (is_large_depthwise(k) && image.element == Element::real) return add_depthwise_gradient(k, image, gradient, sums);
    if (overruns(k))
        return add_weight_gradient(e, Shape(without_skipped_pixels(k), biased, image.element), pixels_not_skipped(e, k, image), gradient,
                                   sums);
    const Shape s(k, biased, image.element);
    add_weight_gradient(e, s, e.wrap(s.in, image.memory.get()), gradient, sums);
}

// A convolution of single pixels is a product of pixels by channels. Of few pixels it is made as one, which reads the weights as they lie:
// to rearrange them would take longer than to multiply (several times as long, where the rows of the weights are a multiple of 4 KiB and
// fall into one set of a core's cache).
std::optional<Gemm> as_product(const Convolution& k, Element e) {
    const std::int64_t pixels = k.batch * k.out_h * k.out_w;
    if (!is_product_of_pixels(k) || pixels > most_pixels_of_a_product || e != Element::real) return std::nullopt;
    return Gemm{.m = pixels, .n = k.out_channels, .k = k.in_channels};
}

}  // namespace

void forward(Engine& e, const Convolution& k, const OperatorCall& c) {
    if (const auto product = as_product(k, c.inputs[0].element)) return forward(e, *product, c);
    const bool biased = c.weights.size() > 1;
    if (!k.transposed) return convolve(e, Shape(k, biased, c.inputs[0].element), c.inputs[0], c.weights, c.outputs[0]);
    convolve_back(e, Shape(underlying(k), false, c.inputs[0].element), c.inputs[0], c.weights[0], c.outputs[0]);
    if (biased) add_bias(c.outputs[0], c.weights[1], c.outputs[0]);
}

void backward(Engine& e, const Convolution& k, const OperatorCall& c) {
    if (const auto product = as_product(k, c.output_gradients[0].element)) return backward(e, *product, c);
    const bool biased = c.weights.size() > 1;
    const Convolution of = underlying(k);
    const Array& dy = c.output_gradients[0];
    if (const Array& dx = c.input_gradients[0]; dx && k.transposed)
        convolve(e, Shape(of, false, dy.element), dy, c.weights, dx);
    else if (dx)
        convolve_back(e, Shape(of, biased, dy.element), dy, c.weights[0], dx);
    if (c.weight_gradients.empty()) return;
    if (!k.transposed) return add_weight_gradient(e, of, biased, c.inputs[0], dy, c.weight_gradients);
    add_weight_gradient(e, of, false, dy, c.inputs[0], c.weight_gradients);
    if (biased) add_column_sums(dy, c.weight_gradients[1].reals(), dy.elements / k.out_channels, k.out_channels);
}

}  // namespace sextant::cpu
