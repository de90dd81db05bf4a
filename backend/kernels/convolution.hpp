// Convolutions as libraries take them: images and filters channels last, as much padding behind as before. Ours have filters [out_channels,
// in_channels / groups, height, width], and padding behind as far as the windows reach.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/rows.hpp"

#include <algorithm>
#include <compare>

namespace sextant::kernels {

struct ConvolutionShape {
    std::int64_t batch, in_channels, in_h, in_w, out_channels, out_h, out_w;
    std::int64_t kernel_h, kernel_w, stride, groups, padding_h, padding_w;

    [[nodiscard]] std::int64_t filter_channels() const { return in_channels / groups; }
    [[nodiscard]] std::int64_t filter_elements() const { return out_channels * kernel_h * kernel_w * filter_channels(); }
    [[nodiscard]] std::int64_t in_elements() const { return batch * in_h * in_w * in_channels; }
    friend auto operator<=>(const ConvolutionShape&, const ConvolutionShape&) = default;
};

// The image grows by the pixels that are read behind it, beyond as many as before it.
inline ConvolutionShape shape_of(const Convolution& c) {
    const auto grown = [&](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t before) {
        return std::max(in, (out - 1) * c.stride + kernel - 2 * before);
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
            c.padding_w};
}

// Between [out, taps, channels] of the library and [out, channels, taps] here.
struct FilterIn {
    const float* ours;
    float* theirs;
    std::int64_t taps, channels;
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t channel) const {
        theirs[row * channels + channel] = ours[(row / taps * channels + channel) * taps + row % taps];
    }
};
struct FilterGradientOut {
    const float* theirs;
    float* ours;  // added to
    std::int64_t taps, channels;
    SEXTANT_KERNEL void operator()(std::int64_t row, std::int64_t channel) const {
        ours[(row / taps * channels + channel) * taps + row % taps] += theirs[row * channels + channel];
    }
};

// Pixels of an image in one that is grown, and back.
struct Grow {
    const float* from;
    float* to;
    std::int64_t channels, in_h, in_w, grown_h, grown_w;
    SEXTANT_KERNEL void operator()(std::int64_t pixel, std::int64_t c) const {
        const std::int64_t x = pixel % grown_w, y = pixel / grown_w % grown_h, sample = pixel / (grown_w * grown_h);
        to[pixel * channels + c] = y < in_h && x < in_w ? from[((sample * in_h + y) * in_w + x) * channels + c] : 0;
    }
};
struct Shrink {
    const float* from;
    float* to;
    std::int64_t channels, in_h, in_w, grown_h, grown_w;
    SEXTANT_KERNEL void operator()(std::int64_t pixel, std::int64_t c) const {
        const std::int64_t x = pixel % in_w, y = pixel / in_w % in_h, sample = pixel / (in_w * in_h);
        to[pixel * channels + c] = from[((sample * grown_h + y) * grown_w + x) * channels + c];
    }
};

// A convolution's filter and images, as the library wants them. A machine offers convolve(shape, x, filter, y),
// convolve_back(shape, filter, dy, dx) and filter_gradient(shape, x, dy, d_filter).
template <class Machine>
class ConvolutionPass {
public:
    ConvolutionPass(Machine& m, const Convolution& k, const OperatorCall& c) : m_(m), k_(k), c_(c), shape_(shape_of(k)) {}

    void forward() {
        m_.convolve(shape_, image().reals(), filter().reals(), c_.outputs[0].reals());
        const std::int64_t width = k_.out_channels;
        float* y = c_.outputs[0].reals();
        if (c_.weights.size() > 1) m_.matrix(c_.outputs[0].elements / width, width, AddRow{y, c_.weights[1].reals(), y, width});
    }

    void backward() {
        const float* dy = c_.output_gradients[0].reals();
        if (const Array& dx = c_.input_gradients[0]) {
            const Array grown = grows() ? m_.scratch(shape_.in_elements()) : dx;
            m_.convolve_back(shape_, filter().reals(), dy, grown.reals());
            if (grows())
                m_.matrix(k_.batch * k_.in_h * k_.in_w, k_.in_channels,
                          Shrink{grown.reals(), dx.reals(), k_.in_channels, k_.in_h, k_.in_w, shape_.in_h, shape_.in_w});
        }
        if (c_.weight_gradients.empty()) return;
        const Array made = m_.scratch(shape_.filter_elements());
        m_.filter_gradient(shape_, image().reals(), dy, made.reals());
        m_.matrix(k_.out_channels * taps(), shape_.filter_channels(),
                  FilterGradientOut{made.reals(), c_.weight_gradients[0].reals(), taps(), shape_.filter_channels()});
        if (c_.weight_gradients.size() > 1)
            add_column_sums(m_, dy, c_.weight_gradients[1].reals(), c_.output_gradients[0].elements / k_.out_channels, k_.out_channels);
    }

private:
    [[nodiscard]] bool grows() const { return shape_.in_h != k_.in_h || shape_.in_w != k_.in_w; }
    [[nodiscard]] std::int64_t taps() const { return k_.kernel_h * k_.kernel_w; }
    Array image() {
        if (!grows()) return c_.inputs[0];
        Array grown = m_.scratch(shape_.in_elements());
        m_.matrix(k_.batch * shape_.in_h * shape_.in_w, k_.in_channels,
                  Grow{c_.inputs[0].reals(), grown.reals(), k_.in_channels, k_.in_h, k_.in_w, shape_.in_h, shape_.in_w});
        return grown;
    }
    Array filter() {
        if (taps() == 1) return c_.weights[0];
        Array theirs = m_.scratch(shape_.filter_elements());
        m_.matrix(k_.out_channels * taps(), shape_.filter_channels(),
                  FilterIn{c_.weights[0].reals(), theirs.reals(), taps(), shape_.filter_channels()});
        return theirs;
    }

    Machine& m_;
    const Convolution& k_;
    const OperatorCall& c_;
    ConvolutionShape shape_;
};

template <class Machine>
void forward(Machine& m, const Convolution& k, const OperatorCall& c) {
    ConvolutionPass<Machine>(m, k, c).forward();
}
template <class Machine>
void backward(Machine& m, const Convolution& k, const OperatorCall& c) {
    ConvolutionPass<Machine>(m, k, c).backward();
}

}  // namespace sextant::kernels
