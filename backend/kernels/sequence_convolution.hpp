// A convolution of each channel along its sequence, through SiLU; see backend/cpu/sequence_convolution.cpp.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/curves.hpp"

namespace sextant::kernels {

// One of the arrays, [tokens, channels], and its filters, [channels, kernel], the last tap of which meets the token itself.
template <class T>
struct SequenceFilters {
    const T *x, *taps, *bias;
    std::int64_t sequence, channels, kernel;

    [[nodiscard]] SEXTANT_KERNEL float tap(std::int64_t channel, std::int64_t back) const {
        return taps[channel * kernel + kernel - 1 - back];
    }
    // The element of the token that is `back` tokens before; zero before the first one of its sequence.
    [[nodiscard]] SEXTANT_KERNEL float before(std::int64_t token, std::int64_t back, std::int64_t channel) const {
        return back <= token % sequence ? float{x[(token - back) * channels + channel]} : 0;
    }
    [[nodiscard]] SEXTANT_KERNEL float convolved(std::int64_t token, std::int64_t channel) const {
        float sum = bias[channel];
        for (std::int64_t back = 0; back < kernel; ++back) sum += tap(channel, back) * before(token, back, channel);
        return sum;
    }
};

template <class T>
struct ConvolveSequence : ToMatrix<T> {
    SequenceFilters<T> f;
    SEXTANT_KERNEL float operator()(std::int64_t token, std::int64_t channel) const {
        return curve(PointwiseKind::silu, f.convolved(token, channel));
    }
};

// From the gradients of the results to those of what SiLU is of.
template <class T>
struct GradientOfConvolved : ToMatrix<float> {
    SequenceFilters<T> f;
    const T* dy;
    SEXTANT_KERNEL float operator()(std::int64_t token, std::int64_t channel) const {
        return back_through(PointwiseKind::silu, f.convolved(token, channel), dy[token * f.channels + channel]);
    }
};

template <class T>
struct GradientOfSequence : ToMatrix<T> {
    SequenceFilters<T> f;
    const float* d;
    SEXTANT_KERNEL float operator()(std::int64_t token, std::int64_t channel) const {
        float sum = 0;
        for (std::int64_t on = 0; on < f.kernel && token % f.sequence + on < f.sequence; ++on)
            sum += f.tap(channel, on) * d[(token + on) * f.channels + channel];
        return sum;
    }
};

template <class T>
struct TapTerm {
    SequenceFilters<T> f;
    const float* d;
    SEXTANT_KERNEL float operator()(std::int64_t back, std::int64_t token, std::int64_t channel) const {
        return d[token * f.channels + channel] * f.before(token, back, channel);
    }
};

struct AddTaps {
    const float* totals;  // [kernel, channels], of the token itself first
    float* taps;
    std::int64_t channels, kernel;
    SEXTANT_KERNEL void operator()(std::int64_t channel, std::int64_t tap) const {
        taps[channel * kernel + tap] += totals[(kernel - 1 - tap) * channels + channel];
    }
};

// The arrays share out the channels.
template <class T, class Work>
void for_each_array(const SequenceConvolution& s, const OperatorCall& c, const Work& work) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        const std::int64_t channels = c.inputs[i].elements / (s.batch * s.sequence);
        work(i, first,
             SequenceFilters<T>{c.inputs[i].as<T>(), c.weights[0].as<T>() + first * s.kernel, c.weights[1].as<T>() + first, s.sequence,
                                channels, s.kernel});
        first += channels;
    }
}

template <class T, class Machine>
void forward(Machine& m, const SequenceConvolution& s, const OperatorCall& c) {
    for_each_array<T>(s, c, [&](std::size_t i, std::int64_t, const SequenceFilters<T>& f) {
        m.matrix(s.batch * s.sequence, f.channels, ConvolveSequence<T>{{c.outputs[i].as<T>(), f.channels}, f});
    });
}

template <class T, class Machine>
void backward(Machine& m, const SequenceConvolution& s, const OperatorCall& c) {
    const std::int64_t tokens = s.batch * s.sequence;
    for_each_array<T>(s, c, [&](std::size_t i, std::int64_t first, const SequenceFilters<T>& f) {
        if (!c.output_gradients[i]) return;
        const Array made = m.scratch(tokens * f.channels);
        const float* d = made.reals();
        m.matrix(tokens, f.channels, GradientOfConvolved<T>{{made.reals(), f.channels}, f, c.output_gradients[i].as<T>()});
        if (c.input_gradients[i]) m.matrix(tokens, f.channels, GradientOfSequence<T>{{c.input_gradients[i].as<T>(), f.channels}, f, d});
        const Array totals = column_totals<float>(m, TapTerm<T>{f, d}, s.kernel, tokens, f.channels);
        m.matrix(f.channels, s.kernel, AddTaps{totals.reals(), c.weight_gradients[0].reals() + first * s.kernel, f.channels, s.kernel});
        add_column_sums(m, d, c.weight_gradients[1].reals() + first, tokens, f.channels);
    });
}

}  // namespace sextant::kernels
