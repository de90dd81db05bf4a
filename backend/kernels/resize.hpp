// Images of more pixels: each pixel is the one that it lies in, or a mixture of the four around it, whose weights fall with the distance
// along either side (bilinear; the images' edges are aligned, as in PyTorch, not the centers of their corners).
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/rows.hpp"

namespace sextant::kernels {

// One extent of the images.
struct ResizeAxis {
    std::int32_t in, out;
    bool interpolates;

    struct Mixture {
        std::int32_t first, second;  // pixels; the second may be the first
        float of_second;

        [[nodiscard]] SEXTANT_KERNEL float of(std::int32_t pixel) const {
            return (pixel == first ? 1 - of_second : 0) + (pixel == second ? of_second : 0);
        }
    };
    // What pixel `o` of the larger image is made of.
    [[nodiscard]] SEXTANT_KERNEL Mixture mixture(std::int32_t o) const {
        if (!interpolates) {
            const auto at = static_cast<std::int32_t>(std::int64_t{o} * in / out);
            return {at, at, 0};
        }
        const float center = (static_cast<float>(o) + 0.5F) * static_cast<float>(in) / static_cast<float>(out) - 0.5F;
        const float at = center < 0 ? 0 : center;
        const auto lower = static_cast<std::int32_t>(at), first = lower < in ? lower : in - 1;
        return {first, first + 1 < in ? first + 1 : first, at - static_cast<float>(first)};
    }
    // Pixels [begin, end) of the larger image, among which are all that are made of this one.
    [[nodiscard]] SEXTANT_KERNEL std::int32_t begin(std::int32_t pixel) const {
        const std::int64_t first = (std::int64_t{pixel} - 1) * out / in - 1;
        return first < 0 ? 0 : static_cast<std::int32_t>(first);
    }
    [[nodiscard]] SEXTANT_KERNEL std::int32_t end(std::int32_t pixel) const {
        const std::int64_t behind = (std::int64_t{pixel} + 2) * out / in + 2;
        return behind < out ? static_cast<std::int32_t>(behind) : out;
    }
};

struct ResizeImage {
    std::int64_t channels;
    ResizeAxis rows, columns;
};

inline ResizeImage resize_image(const Pointwise& p, const OperatorCall& c) {
    const auto extent = [](const Tensor& t, std::size_t i) { return static_cast<std::int32_t>(i < t.shape.size() ? t.shape[i] : 1); };
    const auto axis = [&](std::size_t i) {
        return ResizeAxis{extent(c.input(0), i), extent(c.output(0), i), p.kind == PointwiseKind::interpolate};
    };
    return {c.input(0).shape[1], axis(2), axis(3)};
}

template <class T>
struct Resize : ToMatrix<T> {
    const T* x;
    ResizeImage image;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t c) const {
        const PixelPlace here(pixel, image.rows.out, image.columns.out);
        const auto rows = image.rows.mixture(static_cast<std::int32_t>(here.row));
        const auto columns = image.columns.mixture(static_cast<std::int32_t>(here.column));
        const auto at = [&](std::int32_t row, std::int32_t column) {
            return float{x[((here.sample * image.rows.in + row) * image.columns.in + column) * image.channels + c]};
        };
        const auto in_row = [&](std::int32_t row) {
            return (1 - columns.of_second) * at(row, columns.first) + columns.of_second * at(row, columns.second);
        };
        return (1 - rows.of_second) * in_row(rows.first) + rows.of_second * in_row(rows.second);
    }
};

// Each pixel gathers, in a fixed order.
template <class T>
struct ResizeGradient : ToMatrix<T> {
    const T* dy;
    ResizeImage image;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t c) const {
        const PixelPlace here(pixel, image.rows.in, image.columns.in);
        const auto row = static_cast<std::int32_t>(here.row), column = static_cast<std::int32_t>(here.column);
        float sum = 0;
        for (std::int32_t i = image.rows.begin(row); i < image.rows.end(row); ++i) {
            const float of_row = image.rows.mixture(i).of(row);
            if (of_row == 0) continue;
            const T* from = dy + (here.sample * image.rows.out + i) * image.columns.out * image.channels + c;
            for (std::int32_t j = image.columns.begin(column); j < image.columns.end(column); ++j)
                sum += of_row * image.columns.mixture(j).of(column) * from[j * image.channels];
        }
        return sum;
    }
};

}  // namespace sextant::kernels
