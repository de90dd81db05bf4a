// Pooling of images, which lie as pixels by channels. Where several pixels of a window share the largest value, the first gets the
// gradient.
#include "backend/cpu/operators.hpp"
#include "model/base/ceil_divide.hpp"

#include <algorithm>
#include <limits>

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

// Of a pixel of a window: the gradient of each channel whose largest it is, unless an earlier pixel has it: then `open` is zero.
// Without branches, which nobody could foresee.
void hand_out(const float* __restrict x, const float* __restrict largest, float* __restrict open, float* __restrict dx,
              std::int64_t channels) {
    for (std::int64_t i = 0; i < channels; ++i) {
        const float given = x[i] == largest[i] ? open[i] : 0;
        dx[i] += given;
        open[i] = x[i] == largest[i] ? 0 : open[i];
    }
}

}  // namespace

void forward(Engine&, const Pooling& p, const OperatorCall& c) {
    const Image image(p, c);
    const float* x = c.inputs[0].reals();
    float* y = c.outputs[0].reals();
    const bool largest = p.kind == PoolingKind::max;
    image.for_each_output([&](std::int64_t to, const Span& rows, const Span& columns, std::int64_t sample) {
        std::fill_n(y + to, image.channels, largest ? std::numeric_limits<float>::lowest() : 0.0F);
        image.for_each_input(rows, columns, sample, [&](std::int64_t from) {
            if (largest)
                for (std::int64_t i = 0; i < image.channels; ++i) y[to + i] = x[from + i] > y[to + i] ? x[from + i] : y[to + i];
            else
                for (std::int64_t i = 0; i < image.channels; ++i) y[to + i] += x[from + i];
        });
        if (largest) return;
        const float share = 1 / static_cast<float>(rows.whole * columns.whole);
        for (std::int64_t i = 0; i < image.channels; ++i) y[to + i] *= share;
    });
}

void backward(Engine&, const Pooling& p, const OperatorCall& c) {
    const Image image(p, c);
    const float* dy = c.output_gradients[0].reals();
    float* dx = c.input_gradients[0].reals();
    std::fill_n(dx, c.input_gradients[0].elements, 0.0F);
    std::vector<float> open(static_cast<std::size_t>(image.channels));  // gradient that has not found its pixel yet
    image.for_each_output([&](std::int64_t to, const Span& rows, const Span& columns, std::int64_t sample) {
        if (p.kind == PoolingKind::max) {
            const float *x = c.inputs[0].reals(), *y = c.outputs[0].reals() + to;
            std::copy_n(dy + to, image.channels, open.begin());
            image.for_each_input(rows, columns, sample,
                                 [&](std::int64_t from) { hand_out(x + from, y, open.data(), dx + from, image.channels); });
            return;
        }
        const float share = 1 / static_cast<float>(rows.whole * columns.whole);
        image.for_each_input(rows, columns, sample, [&](std::int64_t from) {
            for (std::int64_t i = 0; i < image.channels; ++i) dx[from + i] += share * dy[to + i];
        });
    });
}

}  // namespace sextant::cpu
