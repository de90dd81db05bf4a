// Pooling of images, which lie as pixels by channels. Where several pixels of a window share the largest value, the first gets the
// gradient.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"

namespace sextant::kernels {

// Extents within an image. In 32 bits, as a GPU takes several times as long to divide numbers of 64.
using Pixels = std::int32_t;

struct PoolWindow {
    Pixels begin, end;  // inside the image
    Pixels whole;       // pixels of the window, padding included

    [[nodiscard]] SEXTANT_KERNEL bool has(Pixels pixel) const { return pixel >= begin && pixel < end; }
};

SEXTANT_KERNEL inline float pixels_of(const PoolWindow& rows, const PoolWindow& columns) {
    return static_cast<float>(std::int64_t{rows.whole} * columns.whole);
}

// One extent of the image; kernel 0: as many windows as the output has pixels, spread evenly.
struct PoolAxis {
    Pixels in, out, kernel, stride, padding;

    [[nodiscard]] SEXTANT_KERNEL PoolWindow window(Pixels i) const {
        if (kernel == 0) {
            const auto first = static_cast<Pixels>(std::int64_t{i} * in / out);
            const auto last = static_cast<Pixels>(((std::int64_t{i} + 1) * in + out - 1) / out);
            return {first, last, last - first};
        }
        const Pixels first = i * stride - padding, last = first + kernel < in + padding ? first + kernel : in + padding;
        return {first < 0 ? 0 : first, last < in ? last : in, last - first};
    }
    // Outputs [begin, end), among which are all whose window has this pixel.
    [[nodiscard]] SEXTANT_KERNEL PoolWindow outputs(Pixels pixel) const {
        const auto spread = [&](Pixels at) { return static_cast<Pixels>(std::int64_t{at} * out / in); };
        const Pixels first = kernel == 0 ? spread(pixel) - 1 : (pixel + padding - kernel + stride) / stride;
        const Pixels last = kernel == 0 ? spread(pixel + 1) + 1 : (pixel + padding) / stride;
        return {first < 0 ? 0 : first, last + 1 < out ? last + 1 : out, 0};
    }
};

struct PoolImage {
    std::int64_t channels;
    PoolAxis rows, columns;
    bool largest;

    // Where the rows of samples begin.
    [[nodiscard]] SEXTANT_KERNEL std::int64_t in_row(std::int64_t sample, Pixels row) const {
        return (sample * rows.in + row) * columns.in * channels;
    }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t out_row(std::int64_t sample, Pixels row) const {
        return (sample * rows.out + row) * columns.out * channels;
    }
};

// Calls work(column, channel) for each element of a row of pixels. Each lane goes from one of its elements to the next without a division.
template <class Lanes, class Work>
SEXTANT_KERNEL void for_pixels(const Lanes& lanes, Pixels columns, std::int64_t all_channels, const Work& work) {
    const auto first = static_cast<Pixels>(lanes.first()), step = static_cast<Pixels>(lanes.step());
    const auto channels = static_cast<Pixels>(all_channels);
    const Pixels further = step / channels, more = step % channels;
    Pixels column = first / channels, c = first % channels;
    while (column < columns) {
        work(column, c);
        column += further;
        c += more;
        if (c < channels) continue;
        c -= channels;
        ++column;
    }
}

// What an output is made of.
template <class T>
struct OutputWindow {
    const T* x;  // its channel, of the first pixel of the sample
    const PoolImage& image;
    PoolWindow rows, columns;

    // visit(value, at), `at` counted along the rows of the window.
    template <class Visit>
    SEXTANT_KERNEL void for_each(const Visit& visit) const {
        std::int32_t at = 0;
        for (Pixels i = rows.begin; i < rows.end; ++i) {
            const T* from = x + image.in_row(0, i);
            for (Pixels j = columns.begin; j < columns.end; ++j, ++at) visit(float{from[j * image.channels]}, at);
        }
    }
};

// What `make` finds in the window of each of a row of outputs, in their places.
template <class T, class Value, class Lanes, class Make>
SEXTANT_KERNEL void make_outputs(const Lanes& lanes, const PoolImage& image, const T* x, std::int64_t output_row, Value* to,
                                 const Make& make) {
    const std::int64_t sample = output_row / image.rows.out, begin = output_row * image.columns.out * image.channels;
    const PoolWindow rows = image.rows.window(static_cast<Pixels>(output_row - sample * image.rows.out));
    for_pixels(lanes, image.columns.out, image.channels, [&](Pixels column, Pixels c) {
        const T* of_sample = x + image.in_row(sample, 0) + c;
        to[begin + column * image.channels + c] = make(OutputWindow<T>{of_sample, image, rows, image.columns.window(column)});
    });
}

template <class T>
struct Pool {
    const T* x;
    T* y;
    PoolImage image;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t output_row) const {
        make_outputs(lanes, image, x, output_row, y, [&](const OutputWindow<T>& window) {
            float largest = lowest, sum = 0;
            window.for_each([&](float value, std::int32_t) {
                largest = value > largest ? value : largest;
                sum += value;
            });
            return image.largest ? largest : sum / pixels_of(window.rows, window.columns);
        });
    }
};

// Which pixel of its window each output is of.
template <class T>
struct LargestOfWindow {
    const T* x;
    std::int32_t* to;
    PoolImage image;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t output_row) const {
        make_outputs(lanes, image, x, output_row, to, [](const OutputWindow<T>& window) {
            float largest = lowest;
            std::int32_t found = -1;
            window.for_each([&](float value, std::int32_t at) {
                const bool is_larger = found < 0 || value > largest;
                largest = is_larger ? value : largest;
                found = is_larger ? at : found;
            });
            return found;
        });
    }
};

// Of a row of an image: what the windows in which each of its elements lies hand to it. `largest`: see there.
template <class T>
struct PoolGradient {
    T* dx;
    const T* dy;
    const std::int32_t* largest;
    PoolImage image;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t image_row) const {
        const std::int64_t sample = image_row / image.rows.in, begin = image_row * image.columns.in * image.channels;
        const auto row = static_cast<Pixels>(image_row - sample * image.rows.in);
        for_pixels(lanes, image.columns.in, image.channels,
                   [&](Pixels column, Pixels c) { dx[begin + column * image.channels + c] = gradient(sample, row, column, c); });
    }

private:
    [[nodiscard]] SEXTANT_KERNEL float gradient(std::int64_t sample, Pixels row, Pixels column, Pixels c) const {
        const PoolWindow rows = image.rows.outputs(row), columns = image.columns.outputs(column);
        float sum = 0;
        for (Pixels i = rows.begin; i < rows.end; ++i) {
            const PoolWindow down = image.rows.window(i);
            if (!down.has(row)) continue;
            const std::int64_t out_row = image.out_row(sample, i) + c;
            for (Pixels j = columns.begin; j < columns.end; ++j) {
                const PoolWindow across = image.columns.window(j);
                if (!across.has(column)) continue;
                const std::int64_t out = out_row + j * image.channels;
                if (!image.largest)
                    sum += dy[out] / pixels_of(down, across);
                else if (largest[out] == (row - down.begin) * (across.end - across.begin) + column - across.begin)
                    sum += dy[out];
            }
        }
        return sum;
    }
};

inline PoolImage image_of(const Pooling& p, const OperatorCall& c) {
    const auto pixels = [](std::int64_t n) { return static_cast<Pixels>(n); };
    const auto extent = [&](const Tensor& t, std::size_t i) { return pixels(t.shape.size() > i ? t.shape[i] : 1); };
    const auto axis = [&](std::size_t i) {
        return PoolAxis{extent(c.input(0), i), extent(c.output(0), i), pixels(p.kernel), pixels(p.stride), pixels(p.padding)};
    };
    return {c.input(0).shape[1], axis(2), axis(3), p.kind == PoolingKind::max};
}

// The mean of a whole image is a sum that many threads can share.
inline bool is_mean_of_all(const PoolImage& image) {
    return !image.largest && image.rows.kernel == 0 && image.rows.out == 1 && image.columns.out == 1;
}
template <class T>
struct ImageMean : ToElement<T> {
    const float* totals;
    float pixels;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return totals[i] / pixels; }
};
template <class T>
struct ImageMeanGradient : ToMatrix<T> {
    const T* dy;
    std::int64_t pixels;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t c) const {
        return dy[pixel / pixels * this->width + c] / static_cast<float>(pixels);
    }
};

template <class T, class Machine>
void forward(Machine& m, const Pooling& p, const OperatorCall& c) {
    const PoolImage image = image_of(p, c);
    const T* x = c.inputs[0].as<T>();
    T* y = c.outputs[0].as<T>();
    const std::int64_t outputs = c.outputs[0].elements / image.channels, pixels = std::int64_t{image.rows.in} * image.columns.in;
    const std::int64_t row = image.columns.out * image.channels;
    if (!is_mean_of_all(image)) return m.rows(outputs / image.columns.out, row, Pool<T>{x, y, image});
    const Array totals = column_totals<float>(m, StoredTotals<T>{x, pixels, image.channels}, outputs, pixels, image.channels);
    m.elements(c.outputs[0].elements, ImageMean<T>{{y}, totals.reals(), static_cast<float>(pixels)});
}

template <class T, class Machine>
void backward(Machine& m, const Pooling& p, const OperatorCall& c) {
    const PoolImage image = image_of(p, c);
    T* dx = c.input_gradients[0].as<T>();
    const T* dy = c.output_gradients[0].as<T>();
    const std::int64_t pixels = c.input_gradients[0].elements / image.channels;
    if (is_mean_of_all(image))
        return m.matrix(pixels, image.channels,
                        ImageMeanGradient<T>{{dx, image.channels}, dy, std::int64_t{image.rows.in} * image.columns.in});
    const Array largest = image.largest ? m.scratch(c.output_gradients[0].elements) : Array{};
    auto* of_windows = largest.as<std::int32_t>();
    const std::int64_t row_in = image.columns.in * image.channels, row_out = image.columns.out * image.channels;
    if (image.largest) m.rows(largest.elements / row_out, row_out, LargestOfWindow<T>{c.inputs[0].as<T>(), of_windows, image});
    m.rows(pixels / image.columns.in, row_in, PoolGradient<T>{dx, dy, of_windows, image});
}

}  // namespace sextant::kernels
