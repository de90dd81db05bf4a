// Pooling of images, which lie as pixels by channels. Where several pixels of a window share the largest value, the first gets the
// gradient.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"

namespace sextant::kernels {

struct PoolWindow {
    std::int64_t begin, end;  // inside the image
    std::int64_t whole;       // pixels of the window, padding included

    [[nodiscard]] SEXTANT_KERNEL bool has(std::int64_t pixel) const { return pixel >= begin && pixel < end; }
};

// One extent of the image; kernel 0: as many windows as the output has pixels, spread evenly.
struct PoolAxis {
    std::int64_t in, out, kernel, stride, padding;

    [[nodiscard]] SEXTANT_KERNEL PoolWindow window(std::int64_t i) const {
        if (kernel == 0) {
            const std::int64_t first = i * in / out, last = ((i + 1) * in + out - 1) / out;
            return {first, last, last - first};
        }
        const std::int64_t first = i * stride - padding, last = first + kernel < in + padding ? first + kernel : in + padding;
        return {first < 0 ? 0 : first, last < in ? last : in, last - first};
    }
    // Outputs [begin, end), among which are all whose window has this pixel.
    [[nodiscard]] SEXTANT_KERNEL PoolWindow outputs(std::int64_t pixel) const {
        const std::int64_t first = kernel == 0 ? pixel * out / in - 1 : (pixel + padding - kernel + stride) / stride;
        const std::int64_t last = kernel == 0 ? (pixel + 1) * out / in + 1 : (pixel + padding) / stride;
        return {first < 0 ? 0 : first, last + 1 < out ? last + 1 : out, 0};
    }
};

struct PoolImage {
    std::int64_t channels;
    PoolAxis rows, columns;
    bool largest;

    [[nodiscard]] SEXTANT_KERNEL std::int64_t in_at(std::int64_t sample, std::int64_t row, std::int64_t column, std::int64_t c) const {
        return ((sample * rows.in + row) * columns.in + column) * channels + c;
    }
    // Of an output, as they are numbered.
    struct Window {
        std::int64_t sample;
        PoolWindow rows, columns;
    };
    [[nodiscard]] SEXTANT_KERNEL Window window(std::int64_t output) const {
        return {output / (rows.out * columns.out), rows.window(output / columns.out % rows.out), columns.window(output % columns.out)};
    }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t out_at(std::int64_t sample, std::int64_t row, std::int64_t column, std::int64_t c) const {
        return ((sample * rows.out + row) * columns.out + column) * channels + c;
    }
};

template <class T>
struct Pool : ToMatrix<T> {
    const T* x;
    PoolImage image;

    SEXTANT_KERNEL float operator()(std::int64_t output, std::int64_t c) const {
        const auto [sample, rows, columns] = image.window(output);
        float largest = lowest, sum = 0;
        for (std::int64_t i = rows.begin; i < rows.end; ++i)
            for (std::int64_t j = columns.begin; j < columns.end; ++j) {
                const float value = x[image.in_at(sample, i, j, c)];
                largest = value > largest ? value : largest;
                sum += value;
            }
        return image.largest ? largest : sum / static_cast<float>(rows.whole * columns.whole);
    }
};

// Which pixel of its window an output is of, counted along the window's rows.
template <class T>
struct LargestOfWindow {
    const T* x;
    std::int32_t* to;
    PoolImage image;

    SEXTANT_KERNEL void operator()(std::int64_t output, std::int64_t c) const {
        const auto [sample, rows, columns] = image.window(output);
        float largest = lowest;
        std::int32_t at = 0, found = -1;
        for (std::int64_t i = rows.begin; i < rows.end; ++i)
            for (std::int64_t j = columns.begin; j < columns.end; ++j, ++at) {
                const float value = x[image.in_at(sample, i, j, c)];
                if (found >= 0 && !(value > largest)) continue;
                largest = value;
                found = at;
            }
        to[output * image.channels + c] = found;
    }
};

// Of a row of an image: what the windows in which each of its elements lies hand to it. `largest`: see there. What divides is done for the
// row where it can be.
template <class T>
struct PoolGradient {
    T* dx;
    const T* dy;
    const std::int32_t* largest;
    PoolImage image;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t image_row) const {
        const std::int64_t sample = image_row / image.rows.in, row = image_row % image.rows.in;
        const PoolWindow rows = image.rows.outputs(row);
        const std::int64_t width = image.columns.in * image.channels;
        for (std::int64_t at = lanes.first(); at < width; at += lanes.step())
            dx[image_row * width + at] = gradient(sample, row, rows, at / image.channels, at % image.channels);
    }

private:
    [[nodiscard]] SEXTANT_KERNEL float gradient(std::int64_t sample, std::int64_t row, const PoolWindow& rows, std::int64_t column,
                                                std::int64_t c) const {
        const PoolWindow columns = image.columns.outputs(column);
        float sum = 0;
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const PoolWindow down = image.rows.window(i);
            if (!down.has(row)) continue;
            for (std::int64_t j = columns.begin; j < columns.end; ++j) {
                const PoolWindow across = image.columns.window(j);
                if (!across.has(column)) continue;
                const std::int64_t out = image.out_at(sample, i, j, c);
                if (!image.largest)
                    sum += dy[out] / static_cast<float>(down.whole * across.whole);
                else if (largest[out] == (row - down.begin) * (across.end - across.begin) + column - across.begin)
                    sum += dy[out];
            }
        }
        return sum;
    }
};

inline PoolImage image_of(const Pooling& p, const OperatorCall& c) {
    const auto extent = [](const Tensor& t, std::size_t i) { return t.shape.size() > i ? t.shape[i] : 1; };
    const auto axis = [&](std::size_t i) { return PoolAxis{extent(c.input(0), i), extent(c.output(0), i), p.kernel, p.stride, p.padding}; };
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
    const std::int64_t outputs = c.outputs[0].elements / image.channels, pixels = image.rows.in * image.columns.in;
    if (!is_mean_of_all(image)) return m.matrix(outputs, image.channels, Pool<T>{{y, image.channels}, x, image});
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
        return m.matrix(pixels, image.channels, ImageMeanGradient<T>{{dx, image.channels}, dy, image.rows.in * image.columns.in});
    const Array largest = image.largest ? m.scratch(c.output_gradients[0].elements) : Array{};
    auto* of_windows = largest.as<std::int32_t>();
    if (image.largest)
        m.matrix(largest.elements / image.channels, image.channels, LargestOfWindow<T>{c.inputs[0].as<T>(), of_windows, image});
    m.rows(pixels / image.columns.in, image.columns.in * image.channels, PoolGradient<T>{dx, dy, of_windows, image});
}

}  // namespace sextant::kernels
