// Pooling of images, which lie as pixels by channels: the largest of each window by oneDNN, means by ourselves, whose windows may be of
// several sizes.
#include "backend/cpu/operators.hpp"
#include "model/base/ceil_divide.hpp"

#include <algorithm>

namespace sextant::cpu {
namespace {

struct Span {
    std::int64_t begin, end;  // inside the image
    std::int64_t whole;       // pixels of the window, padding included
};

// One extent of the image.
struct Axis {
    std::int64_t in, out;
    const Pooling& p;

    [[nodiscard]] Span window(std::int64_t i) const {
        if (p.kernel == 0) {
            const std::int64_t begin = i * in / out, end = ceil_divide((i + 1) * in, out);
            return {begin, end, end - begin};
        }
        const std::int64_t begin = i * p.stride - p.padding, end = std::min(begin + p.kernel, in + p.padding);
        return {std::max<std::int64_t>(begin, 0), std::min(end, in), end - begin};
    }
    // Pixels behind the image that the last window reaches, or as many as before it.
    [[nodiscard]] std::int64_t padding_behind() const { return std::max(p.padding, (out - 1) * p.stride + p.kernel - in - p.padding); }
};

struct Image {
    std::int64_t samples, channels;
    Axis rows, columns;

    Image(const Pooling& p, const OperatorCall& c)
        : samples(c.input(0).shape[0]),
          channels(c.input(0).shape[1]),
          rows{extent(c.input(0), 2), extent(c.output(0), 2), p},
          columns{extent(c.input(0), 3), extent(c.output(0), 3), p} {}

    // work(output pixel, window of rows, window of columns, first pixel of the sample), pixels as offsets.
    template <class Work>
    void for_each_output(const Work& work) const {
        for (std::int64_t s = 0; s < samples; ++s)
            for (std::int64_t y = 0; y < rows.out; ++y)
                for (std::int64_t x = 0; x < columns.out; ++x)
                    work(((s * rows.out + y) * columns.out + x) * channels, rows.window(y), columns.window(x),
                         s * rows.in * columns.in * channels);
    }
    template <class Work>
    void for_each_input(const Span& y, const Span& x, std::int64_t sample, const Work& work) const {
        for (std::int64_t i = y.begin; i < y.end; ++i)
            for (std::int64_t j = x.begin; j < x.end; ++j) work(sample + (i * columns.in + j) * channels);
    }

private:
    static std::int64_t extent(const Tensor& t, std::size_t i) { return t.shape.size() > i ? t.shape[i] : 1; }
};

struct LargestPasses {
    dnnl::memory::desc in, out, places;  // places: which pixel of its window each element of the result is; of several the first
    dnnl::pooling_forward forward;
    dnnl::pooling_backward backward;
};

LargestPasses make_largest_passes(const dnnl::engine& engine, const Image& image) {
    using Dims = dnnl::memory::dims;
    const auto describe = [&](std::int64_t rows, std::int64_t columns) {
        return dnnl::memory::desc({image.samples, image.channels, rows, columns}, type_of(Element::real), dnnl::memory::format_tag::nhwc);
    };
    const Pooling& p = image.rows.p;
    const dnnl::memory::desc in = describe(image.rows.in, image.columns.in), out = describe(image.rows.out, image.columns.out);
    const Dims stride{p.stride, p.stride}, kernel{p.kernel, p.kernel}, before{p.padding, p.padding};
    const Dims behind{image.rows.padding_behind(), image.columns.padding_behind()};
    constexpr auto largest = dnnl::algorithm::pooling_max;
    const dnnl::pooling_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, largest, in, out, stride, kernel, before, behind}, engine);
    return {in, out, forward.workspace_desc(), dnnl::pooling_forward(forward),
            dnnl::pooling_backward({{largest, in, out, stride, kernel, before, behind}, engine, forward})};
}

// The places, which go into scratch memory, are found together with the values.
dnnl::memory find_largest(Engine& e, const LargestPasses& passes, const Array& from, const float* to) {
    const auto elements = static_cast<std::int64_t>(ceil_divide(passes.places.get_size(), sizeof(float)));
    const dnnl::memory places = e.wrap(passes.places, e.scratch.reals(elements));
    passes.forward.execute(
        e.stream, {{DNNL_ARG_SRC, e.wrap(passes.in, from.reals())}, {DNNL_ARG_DST, e.wrap(passes.out, to)}, {DNNL_ARG_WORKSPACE, places}});
    return places;
}

const LargestPasses& largest_passes(Engine& e, const Image& image) {
    const Pooling& p = image.rows.p;
    return e.cached<LargestPasses>(
        "largest",
        {image.samples, image.channels, image.rows.in, image.columns.in, image.rows.out, image.columns.out, p.kernel, p.stride, p.padding},
        [&] { return make_largest_passes(e.engine, image); });
}

}  // namespace

void forward(Engine& e, const Pooling& p, const OperatorCall& c) {
    const Image image(p, c);
    float* y = c.outputs[0].reals();
    if (p.kind == PoolingKind::max) return void(find_largest(e, largest_passes(e, image), c.inputs[0], y));
    const float* x = c.inputs[0].reals();
    image.for_each_output([&](std::int64_t to, const Span& rows, const Span& columns, std::int64_t sample) {
        std::fill_n(y + to, image.channels, 0.0F);
        image.for_each_input(rows, columns, sample, [&](std::int64_t from) {
            for (std::int64_t i = 0; i < image.channels; ++i) y[to + i] += x[from + i];
        });
        const float share = 1 / static_cast<float>(rows.whole * columns.whole);
        for (std::int64_t i = 0; i < image.channels; ++i) y[to + i] *= share;
    });
}

// Where the largest are was not kept: they are looked for again.
void backward(Engine& e, const Pooling& p, const OperatorCall& c) {
    const Image image(p, c);
    const float* dy = c.output_gradients[0].reals();
    float* dx = c.input_gradients[0].reals();
    if (p.kind == PoolingKind::max) {
        const LargestPasses& passes = largest_passes(e, image);
        const dnnl::memory places = find_largest(e, passes, c.inputs[0], e.scratch.reals(c.output_gradients[0].elements));
        passes.backward.execute(
            e.stream,
            {{DNNL_ARG_DIFF_DST, e.wrap(passes.out, dy)}, {DNNL_ARG_DIFF_SRC, e.wrap(passes.in, dx)}, {DNNL_ARG_WORKSPACE, places}});
        return;
    }
    std::fill_n(dx, c.input_gradients[0].elements, 0.0F);
    image.for_each_output([&](std::int64_t to, const Span& rows, const Span& columns, std::int64_t sample) {
        const float share = 1 / static_cast<float>(rows.whole * columns.whole);
        image.for_each_input(rows, columns, sample, [&](std::int64_t from) {
            for (std::int64_t i = 0; i < image.channels; ++i) dx[from + i] += share * dy[to + i];
        });
    });
}

}  // namespace sextant::cpu
