// Functions of single elements. What the operators are is told in backend/cpu/pointwise.cpp.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/exec/key_range.hpp"
#include "backend/kernels/alibi.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/curves.hpp"
#include "backend/kernels/rearrange.hpp"
#include "backend/kernels/resize.hpp"
#include "backend/kernels/rotary.hpp"
#include "backend/kernels/rows.hpp"
#include "backend/kernels/window_scores.hpp"

namespace sextant::kernels {

template <class T>
struct ApplyCurve : ToElement<T> {
    PointwiseKind kind;
    const T* x;
    [[nodiscard]] SEXTANT_KERNEL float read(std::int64_t i) const { return x[i]; }
    SEXTANT_KERNEL float operator()(float value) const { return curve(kind, value); }
};

template <class T>
struct DifferentiateCurve : ToElement<T> {
    PointwiseKind kind;
    const T *kept, *dy;
    [[nodiscard]] SEXTANT_KERNEL FloatPair read(std::int64_t i) const { return {kept[i], dy[i]}; }
    SEXTANT_KERNEL float operator()(const FloatPair& of) const { return back_through(kind, of.first, of.second); }
};

template <class T>
struct Scale : ToElement<T> {
    const T* x;
    float factor;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return factor * x[i]; }
};

// Of scores [samples x heads, queries, keys], those of keys that the query of their row does not see become `hidden`; with ALiBi the bias
// is subtracted from the others.
template <class T>
struct MaskScores {
    const T* x;
    T* y;
    std::int64_t queries, keys;
    bool causal;
    std::int64_t window;
    ContextCut context;
    float hidden;
    std::int64_t heads;  // 0: without ALiBi
    AlibiBias bias;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const std::int64_t query = row % queries, head = heads == 0 ? 0 : row / queries % heads, begin = row * keys;
        const std::int64_t beside = key_beside(query, queries, keys, context);
        const KeyRange r = visible_keys(query, queries, keys, causal, window, context);
        put_row(lanes, keys, y + begin, [&](std::int64_t key) {
            const float penalty = heads == 0 ? 0 : bias.penalty(head, beside, key);
            return key >= r.begin && key < r.end ? x[begin + key] - penalty : hidden;
        });
    }
};

// The columns of a row are two halves: out = curve(first) second.
template <class T>
struct Gate : ToMatrix<T> {
    PointwiseKind kind;
    const T* x;
    [[nodiscard]] SEXTANT_KERNEL FloatPair read(std::int64_t row, std::int64_t i) const {
        const T* first = x + 2 * row * this->width;
        return {first[i], first[this->width + i]};
    }
    SEXTANT_KERNEL float operator()(const FloatPair& halves) const { return curve(kind, halves.first) * halves.second; }
};

// Gradients of the two halves.
template <class T>
struct ToHalves {
    T* dx;
    std::int64_t width;  // of each
    SEXTANT_KERNEL void put(std::int64_t row, std::int64_t i, const FloatPair& made) const {
        dx[2 * row * width + i] = made.first;
        dx[(2 * row + 1) * width + i] = made.second;
    }
};

// The gates keep their inputs: gradients are worked out from an input, whatever the curve.
template <class T>
struct GateGradient : ToHalves<T> {
    struct Read {
        float first, second, d;
    };
    PointwiseKind kind;
    const T *x, *dy;
    [[nodiscard]] SEXTANT_KERNEL Read read(std::int64_t row, std::int64_t i) const {
        const std::int64_t pitch = this->width;
        return {x[2 * row * pitch + i], x[(2 * row + 1) * pitch + i], dy[row * pitch + i]};
    }
    SEXTANT_KERNEL FloatPair operator()(const Read& of) const {
        const float value = curve(kind, of.first);
        return {back_through(kind, gradient_needs_output(kind) ? value : of.first, of.d * of.second), of.d * value};
    }
};

template <class T>
struct ClampedGates : ToMatrix<T> {
    const T* x;
    SEXTANT_KERNEL float operator()(std::int64_t row, std::int64_t i) const {
        return ClampedGate{x[2 * row * this->width + i], x[(2 * row + 1) * this->width + i]}.value();
    }
};

template <class T>
struct ClampedGatesGradient : ToHalves<T> {
    const T *x, *dy;
    SEXTANT_KERNEL FloatPair operator()(std::int64_t row, std::int64_t i) const {
        const ClampedGate gate{x[2 * row * this->width + i], x[(2 * row + 1) * this->width + i]};
        const float d = dy[row * this->width + i];
        return {gate.back_to_first(d), gate.back_to_second(d)};
    }
};

// Times a factor for each channel: learned, of the sample (an image), or of the row; each serves so many pixels.
template <class T>
struct Multiply : ToMatrix<T> {
    const T *x, *factor;
    std::int64_t pixels;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t c) const {
        return x[pixel * this->width + c] * factor[pixel / pixels * this->width + c];
    }
};

template <class T>
struct FactorGradient {
    const T *x, *dy;
    std::int64_t channels, pixels;
    SEXTANT_KERNEL float operator()(std::int64_t sample, std::int64_t pixel, std::int64_t c) const {
        const std::int64_t at = (sample * pixels + pixel) * channels + c;
        return dy[at] * x[at];
    }
};

// Keyed by sample and element of the serial tensor: who holds which part makes no difference.
template <class T>
struct Dropout {
    struct Made {
        float y;
        bool kept;
    };
    const T* x;
    T* y;
    std::uint8_t* mask;
    std::int32_t dropped;
    float keep;
    RandomKey key;
    Place place;
    std::int64_t first_sample;
    SEXTANT_KERNEL Made operator()(std::int64_t i) const {
        const std::int64_t whole = place.of(i), sample = first_sample + whole / place.per_sample;
        const bool kept = key.with(static_cast<std::uint64_t>(sample)).keeps(static_cast<std::uint64_t>(whole % place.per_sample), dropped);
        return {kept ? keep * x[i] : 0, kept};
    }
    SEXTANT_KERNEL void put(std::int64_t i, const Made& made) const {
        mask[i] = made.kept ? 1 : 0;
        y[i] = made.y;
    }
};

template <class T>
struct DropoutGradient : ToElement<T> {
    const std::uint8_t* mask;
    const T* dy;
    float keep;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return mask[i] != 0 ? keep * dy[i] : 0; }
};

template <class T>
MaskScores<T> mask_scores(const Pointwise& p, const OperatorCall& c, const T* from, T* to, float hidden, bool alibi) {
    const std::int64_t queries = c.output(0).shape[1], keys = c.output(0).shape[2], heads = c.output(0).shape[0] / c.samples;
    return {from,
            to,
            queries,
            keys,
            p.causal,
            p.window,
            c.place.context,
            hidden,
            alibi ? heads : 0,
            alibi_bias(c.place, heads, queries * keys)};
}

template <class T, class Machine>
void multiply_backward(Machine& m, const OperatorCall& c) {
    const bool learned = c.inputs.size() == 1;
    const Array& factors = learned ? c.weights[0] : c.inputs[1];
    const std::int64_t channels = c.output(0).shape[1], all = c.output_gradients[0].elements / channels;
    const std::int64_t sets = factors.elements / channels, pixels = all / sets;
    const T *x = c.inputs[0].as<T>(), *dy = c.output_gradients[0].as<T>();
    if (c.input_gradients[0]) m.matrix(all, channels, Multiply<T>{{c.input_gradients[0].as<T>(), channels}, dy, factors.as<T>(), pixels});
    if (!learned && !c.input_gradients[1]) return;
    if (!learned && pixels == 1) return m.matrix(all, channels, Multiply<T>{{c.input_gradients[1].as<T>(), channels}, dy, x, 1});
    const Array totals = column_totals<float>(m, FactorGradient<T>{x, dy, channels, pixels}, sets, pixels, channels);
    if (learned)
        m.elements(channels, AddElements{{c.weight_gradients[0].reals()}, totals.reals()});
    else
        m.elements(sets * channels, Convert<float, T>{{c.input_gradients[1].as<T>()}, totals.reals()});
}

template <class T, class Machine>
void forward(Machine& m, const Pointwise& p, const OperatorCall& c) {
    const std::int64_t count = c.outputs[0].elements, width = c.output(0).shape.back();
    const T* x = c.inputs[0].as<T>();
    T* y = c.outputs[0].as<T>();
    switch (p.kind) {
        case PointwiseKind::gelu:
        case PointwiseKind::silu:
        case PointwiseKind::sigmoid:
        case PointwiseKind::tanh:
        case PointwiseKind::relu:
        case PointwiseKind::relu6:
        case PointwiseKind::squared_relu: return m.elements(count, ApplyCurve<T>{{y}, p.kind, x});
        case PointwiseKind::scale: return m.elements(count, Scale<T>{{y}, x, static_cast<float>(p.constant)});
        case PointwiseKind::cast: return m.copy(x, y, count);
        case PointwiseKind::mask:
            if (p.shifted_windows > 0) return m.elements(count, MaskWindows<T>{{y}, x, shifted_windows(p, c), -1e30F});
            return m.rows(count / width, width, mask_scores<T>(p, c, x, y, -1e30F, p.alibi));
        case PointwiseKind::gate: return m.matrix(count / width, width, Gate<T>{{y, width}, p.gate, x});
        case PointwiseKind::clamped_gate: return m.matrix(count / width, width, ClampedGates<T>{{y, width}, x});
        case PointwiseKind::multiply: {
            const Array& factors = c.inputs.size() == 1 ? c.weights[0] : c.inputs[1];
            const std::int64_t channels = c.output(0).shape[1];
            return m.matrix(count / channels, channels, Multiply<T>{{y, channels}, x, factors.as<T>(), count / factors.elements});
        }
        case PointwiseKind::dropout: {
            const auto fraction = static_cast<float>(p.constant);
            return m.elements(count, Dropout<T>{x, y, c.outputs[1].mask(), RandomKey::part(fraction), 1 / (1 - fraction), c.dropout,
                                                c.place, c.first_sample});
        }
        case PointwiseKind::rotary: return rotate<T>(m, p, c, c.inputs, c.outputs, 1);
        case PointwiseKind::repeat:
        case PointwiseKind::interpolate: {
            const std::int64_t channels = c.output(0).shape[1];
            return m.matrix(count / channels, channels, Resize<T>{{y, channels}, x, resize_image(p, c)});
        }
        case PointwiseKind::bias: return are_scores(c.output(0)) ? add_distances<T>(m, c) : forward_rows<T>(m, p.kind, c);
        case PointwiseKind::copy: return p.order.empty() ? forward_rows<T>(m, p.kind, c) : rearrange<T>(m, p, c);
        case PointwiseKind::add: return forward_rows<T>(m, p.kind, c);
    }
}

template <class T, class Machine>
void backward(Machine& m, const Pointwise& p, const OperatorCall& c) {
    switch (p.kind) {  // those whose first gradient is not one of elements
        case PointwiseKind::multiply: return multiply_backward<T>(m, c);
        case PointwiseKind::rotary: return rotate<T>(m, p, c, c.output_gradients, c.input_gradients, -1);
        case PointwiseKind::bias: return are_scores(c.output(0)) ? add_distances_back<T>(m, c) : backward_rows<T>(m, p.kind, c);
        case PointwiseKind::copy: return p.order.empty() ? backward_rows<T>(m, p.kind, c) : rearrange_back<T>(m, p, c);
        case PointwiseKind::add: return backward_rows<T>(m, p.kind, c);
        default: break;
    }
    const std::int64_t count = c.output_gradients[0].elements, width = c.output(0).shape.back();
    const T* dy = c.output_gradients[0].as<T>();
    T* dx = c.input_gradients[0].as<T>();
    switch (p.kind) {
        case PointwiseKind::repeat:
        case PointwiseKind::interpolate: {
            const std::int64_t channels = c.output(0).shape[1];
            return m.matrix(c.input_gradients[0].elements / channels, channels, ResizeGradient<T>{{dx, channels}, dy, resize_image(p, c)});
        }
        case PointwiseKind::scale: return m.elements(count, Scale<T>{{dx}, dy, static_cast<float>(p.constant)});
        case PointwiseKind::cast: return m.copy(dy, dx, count);
        case PointwiseKind::mask:
            if (p.shifted_windows > 0) return m.elements(count, MaskWindows<T>{{dx}, dy, shifted_windows(p, c), 0});
            return m.rows(count / width, width, mask_scores<T>(p, c, dy, dx, 0, false));
        case PointwiseKind::gate: return m.matrix(count / width, width, GateGradient<T>{{dx, width}, p.gate, c.inputs[0].as<T>(), dy});
        case PointwiseKind::clamped_gate:
            return m.matrix(count / width, width, ClampedGatesGradient<T>{{dx, width}, c.inputs[0].as<T>(), dy});
        case PointwiseKind::dropout:
            return m.elements(count, DropoutGradient<T>{{dx}, c.outputs[1].mask(), dy, 1 / (1 - static_cast<float>(p.constant))});
        default:
            return m.elements(count,
                              DifferentiateCurve<T>{{dx}, p.kind, (gradient_needs_output(p.kind) ? c.outputs : c.inputs)[0].as<T>(), dy});
    }
}

}  // namespace sextant::kernels
