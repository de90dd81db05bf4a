// Convolutions as libraries take them: images and filters channels last, as much padding behind as before. Ours have filters [out_channels,
// in_channels / groups, height, width], and padding behind as far as the windows reach.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/rows.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>

namespace sextant::kernels {

struct ConvolutionShape {
    std::int64_t batch, in_channels, in_h, in_w, out_channels, out_h, out_w;
    std::int64_t kernel_h, kernel_w, stride, groups, padding_h, padding_w;
    Element element;  // of images and filters
    std::int64_t dilation = 1;

    [[nodiscard]] std::int64_t filter_channels() const { return in_channels / groups; }
    [[nodiscard]] std::int64_t filter_elements() const { return out_channels * kernel_h * kernel_w * filter_channels(); }
    [[nodiscard]] std::int64_t in_elements() const { return batch * in_h * in_w * in_channels; }
    [[nodiscard]] std::int64_t out_elements() const { return batch * out_h * out_w * out_channels; }
    friend auto operator<=>(const ConvolutionShape&, const ConvolutionShape&) = default;
};

// The image grows by the pixels that are read behind it, beyond as many as before it.
inline ConvolutionShape shape_of(const Convolution& c, Element element) {
    const auto grown = [&](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t before) {
        return std::max(in, c.covered(out, kernel) - 2 * before);
    };
    return {c.batch,
            c.in_channels,
            grown(c.in_h, c.out_h, c.kernel_h, c.padding_h),
            grown(c.in_w, c.out_w, c.kernel_w, c.padding_w),
            c.out_channels,
            c.out_h,
            c.out_w,
            c.kernel_h,
            c.kernel_w,
            c.stride,
            c.groups,
            c.padding_h,
            c.padding_w,
            element,
            c.dilation};
}

// Between [out, taps, channels] of the library and [out, channels, taps] here.
template <class T>
struct FilterIn : ToMatrix<T> {
    const T* ours;
    std::int64_t taps;
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t channel) const {
        return ours[(row / taps * this->width + channel) * taps + row % taps];
    }
};
template <class T>
struct FilterGradientOut {
    const T* theirs;
    float* ours;  // added to
    std::int64_t taps, channels;
    [[nodiscard]] SEXTANT_KERNEL std::int64_t at(std::int64_t row, std::int64_t channel) const {
        return (row / taps * channels + channel) * taps + row % taps;
    }
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t channel) const {
        return ours[at(row, channel)] + theirs[row * channels + channel];
    }
    SEXTANT_KERNEL void put(std::int64_t row, std::int64_t channel, float value) const { ours[at(row, channel)] = value; }
};

// Pixels of an image in one that is grown, and back.
template <class T>
struct Grow : ToMatrix<T> {
    const T* from;
    std::int64_t in_h, in_w, grown_h, grown_w;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t c) const {
        const PixelPlace at(pixel, grown_h, grown_w);
        const bool inside = at.row < in_h && at.column < in_w;
        return inside ? from[((at.sample * in_h + at.row) * in_w + at.column) * this->width + c] : T{0};
    }
};
template <class T>
struct Shrink : ToMatrix<T> {
    const T* from;
    std::int64_t in_h, in_w, grown_h, grown_w;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t c) const {
        const PixelPlace at(pixel, in_h, in_w);
        return from[((at.sample * grown_h + at.row) * grown_w + at.column) * this->width + c];
    }
};

// A convolution's filter and images, as the library wants them; of a transposed one those of the underlying convolution, whose passes are
// its own in other roles. A machine offers convolve(shape, x, filter, y), convolve_back(shape, filter, dy, dx) and filter_gradient(shape,
// x, dy, d_filter), all of one type.
template <class T, class Machine>
class ConvolutionPass {
public:
    ConvolutionPass(Machine& m, const Convolution& k, const OperatorCall& c)
        : m_(m), k_(underlying(k)), transposed_(k.transposed), c_(c), shape_(shape_of(k_, c.weights[0].element)) {}

    void forward() {
        const Array& y = c_.outputs[0];
        if (transposed_)
            convolve_back(c_.inputs[0], y);
        else
            convolve(c_.inputs[0], y);
        const std::int64_t width = c_.weights.size() > 1 ? c_.weights[1].elements : 0;
        if (width > 0) m_.matrix(y.elements / width, width, AddRow<T>{{y.as<T>(), width}, y.as<T>(), c_.weights[1].as<T>()});
    }

    void backward() {
        const Array& dy = c_.output_gradients[0];
        if (const Array& dx = c_.input_gradients[0]; dx && transposed_)
            convolve(dy, dx);
        else if (dx)
            convolve_back(dy, dx);
        if (c_.weight_gradients.empty()) return;
        const Array &image = transposed_ ? dy : c_.inputs[0], &gradient = transposed_ ? c_.inputs[0] : dy;
        const Array made = m_.scratch(shape_.filter_elements(), shape_.element);
        m_.filter_gradient(shape_, grown(image).template as<T>(), gradient.template as<T>(), made.as<T>());
        m_.matrix(k_.out_channels * taps(), shape_.filter_channels(),
                  FilterGradientOut<T>{made.as<T>(), c_.weight_gradients[0].reals(), taps(), shape_.filter_channels()});
        if (c_.weight_gradients.size() < 2) return;
        const std::int64_t width = c_.weight_gradients[1].elements;
        add_column_sums(m_, dy.as<T>(), c_.weight_gradients[1].reals(), dy.elements / width, width);
    }

private:
    void convolve(const Array& image, const Array& result) {
        m_.convolve(shape_, grown(image).template as<T>(), filter().template as<T>(), result.as<T>());
    }
    void convolve_back(const Array& gradient, const Array& of_image) {
        const Array grown = grows() ? m_.scratch(shape_.in_elements(), shape_.element) : of_image;
        m_.convolve_back(shape_, filter().template as<T>(), gradient.as<T>(), grown.as<T>());
        if (grows())
            m_.matrix(k_.batch * k_.in_h * k_.in_w, k_.in_channels,
                      Shrink<T>{{of_image.as<T>(), k_.in_channels}, grown.as<T>(), k_.in_h, k_.in_w, shape_.in_h, shape_.in_w});
    }
    [[nodiscard]] bool grows() const { return shape_.in_h != k_.in_h || shape_.in_w != k_.in_w; }
    [[nodiscard]] std::int64_t taps() const { return k_.kernel_h * k_.kernel_w; }
    Array grown(const Array& image) {
        if (!grows()) return image;
        Array grown = m_.scratch(shape_.in_elements(), shape_.element);
        m_.matrix(k_.batch * shape_.in_h * shape_.in_w, k_.in_channels,
                  Grow<T>{{grown.as<T>(), k_.in_channels}, image.as<T>(), k_.in_h, k_.in_w, shape_.in_h, shape_.in_w});
        return grown;
    }
    // Parameters lie one behind the other, wherever that may be; the library reads so many bytes at once.
    Array filter() {
        constexpr std::uintptr_t alignment = 16;
        if (taps() == 1 && reinterpret_cast<std::uintptr_t>(c_.weights[0].template as<T>()) % alignment == 0) return c_.weights[0];
        Array theirs = m_.scratch(shape_.filter_elements(), shape_.element);
        m_.matrix(k_.out_channels * taps(), shape_.filter_channels(),
                  FilterIn<T>{{theirs.as<T>(), shape_.filter_channels()}, c_.weights[0].as<T>(), taps()});
        return theirs;
    }

    Machine& m_;
    Convolution k_;
    bool transposed_;
    const OperatorCall& c_;
    ConvolutionShape shape_;
};

template <class T, class Machine>
void forward(Machine& m, const Convolution& k, const OperatorCall& c) {
    ConvolutionPass<T, Machine>(m, k, c).forward();
}
template <class T, class Machine>
void backward(Machine& m, const Convolution& k, const OperatorCall& c) {
    ConvolutionPass<T, Machine>(m, k, c).backward();
}

}  // namespace sextant::kernels
