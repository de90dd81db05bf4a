// Layer, RMS, batch and group norms, of elements that lie as norm_layout.hpp says; see backend/cpu/normalization.cpp. Norms of rows take a
// row at once. Those of images sum over pixels by channel first, then over the channels of a group.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/curves.hpp"
#include "backend/kernels/norm_layout.hpp"

namespace sextant::kernels {

constexpr auto added_to_variance = static_cast<float>(norm_epsilon);

// The mean of each group and the reciprocal of its standard deviation, both [samples, groups] and one behind the other. An RMS norm has no
// mean.
struct NormStatistics {
    float *mean, *factor;
};

inline NormStatistics statistics_in(const NormLayout& l, const Array& a) {
    return {l.centred ? a.reals() : nullptr, a.reals() + (l.centred ? l.samples * l.groups : 0)};
}

// What rows are normalized of: where there is a gate, the product of x and SiLU of that. `gated` is known to the compiler, as is whether a
// batch norm's statistics are of channels: branches and divisions take longer than all else that is done for an element.
template <class T, bool gated>
struct NormInput {
    const T *x, *gate;

    [[nodiscard]] SEXTANT_KERNEL float opened(std::int64_t i) const { return curve(PointwiseKind::silu, gate[i]); }
    [[nodiscard]] SEXTANT_KERNEL float at(std::int64_t i) const {
        if constexpr (gated) return x[i] * opened(i);
        return x[i];
    }
};

// A row, or one of the parts of one.
template <class T, bool gated>
struct NormRow {
    NormInput<T, gated> x;
    const T *gain, *shift;
    T* y;  // none: statistics alone
    NormStatistics statistics;
    std::int64_t width, parts;
    bool centred;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const std::int64_t begin = row * width, column = row % parts * width;
        const auto count = static_cast<float>(width);
        const float mean = centred ? sum_row(lanes, width, [&](std::int64_t i) { return x.at(begin + i); }) / count : 0;
        const float squares = sum_row(lanes, width, [&](std::int64_t i) {
            const float d = x.at(begin + i) - mean;
            return d * d;
        });
        const float factor = 1 / sqrtf(squares / count + added_to_variance);
        if (lanes.first() == 0 && statistics.factor != nullptr) {
            if (centred) statistics.mean[row] = mean;
            statistics.factor[row] = factor;
        }
        if (y == nullptr) return;
        put_row(lanes, width, y + begin, [&](std::int64_t i) {
            return (x.at(begin + i) - mean) * factor * gain[column + i] + (shift == nullptr ? 0 : float{shift[column + i]});
        });
    }
};

// With h = (x - mean) factor: dx = factor (gain dy - mean(gain dy) - h mean(gain dy h)); an RMS norm lacks the second term.
template <class T, bool gated>
struct NormRowGradient {
    NormInput<T, gated> x;
    const T *dy, *gain;
    T *dx, *d_gate;  // d_gate: none where there is no gate, or nobody reads it
    NormStatistics statistics;
    std::int64_t width, parts;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const float mean = statistics.mean == nullptr ? 0 : statistics.mean[row], factor = statistics.factor[row];
        const std::int64_t begin = row * width, column = row % parts * width;
        const auto count = static_cast<float>(width);
        FloatPair sums;
        for_row(
            lanes, width,
            [&](std::int64_t i) {
                const float d = gain[column + i] * dy[begin + i];
                return FloatPair{d, d * (x.at(begin + i) - mean) * factor};
            },
            [&](std::int64_t, const FloatPair& made) { sums += made; });
        const float along = lanes.sum(sums.second) / count, level = statistics.mean == nullptr ? 0 : lanes.sum(sums.first) / count;
        for_row(
            lanes, width,
            [&](std::int64_t i) {
                const std::int64_t at = begin + i;
                const float d = factor * (gain[column + i] * dy[at] - level - (x.at(at) - mean) * factor * along);
                if constexpr (gated) return FloatPair{d * x.opened(at), back_through(PointwiseKind::silu, x.gate[at], d * x.x[at])};
                return FloatPair{d, 0};
            },
            [&](std::int64_t i, const FloatPair& made) {
                dx[begin + i] = made.first;
                if (gated && d_gate != nullptr) d_gate[begin + i] = made.second;
            });
    }
};

// How far elements are from the first of their channel, and the squares of that: sums of both give the variance without another look at
// the elements, and lose no digits where that one is as good as any.
template <class T>
struct NormTerm {
    const T* x;
    NormLayout l;
    [[nodiscard]] SEXTANT_KERNEL float pivot(std::int64_t sample, std::int64_t channel) const { return x[l.at(sample, 0, channel)]; }
    SEXTANT_KERNEL FloatPair operator()(std::int64_t sample, std::int64_t pixel, std::int64_t channel) const {
        const float d = x[l.at(sample, pixel, channel)] - pivot(sample, channel);
        return {d, d * d};
    }
};

// From these sums to the mean of each group and the reciprocal of its deviation.
template <class T>
struct NormOfGroup {
    NormTerm<T> of;
    const FloatPair* totals;  // [samples, channels]
    NormStatistics to;
    SEXTANT_KERNEL void operator()(std::int64_t sample, std::int64_t group) const {
        const NormLayout& l = of.l;
        const std::int64_t begin = group * l.members(), end = begin + l.members();
        const auto pixels = static_cast<float>(l.pixels);
        float sum = 0, squares = 0;
        for (std::int64_t i = begin; i < end; ++i) sum += of.pivot(sample, i) + totals[sample * l.channels + i].first / pixels;
        const float mean = sum / static_cast<float>(l.members());
        for (std::int64_t i = begin; i < end; ++i) {
            const FloatPair& t = totals[sample * l.channels + i];
            const float away = mean - of.pivot(sample, i);
            squares += t.second - 2 * away * t.first + pixels * away * away;
        }
        to.mean[sample * l.groups + group] = mean;
        to.factor[sample * l.groups + group] = 1 / sqrtf(fmaxf(squares, 0) / l.count() + added_to_variance);
    }
};

template <class T, bool by_channel>
struct NormApply : ToMatrix<T> {
    const T *x, *gain, *shift;
    NormStatistics statistics;
    NormLayout l;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t channel) const {
        const std::int64_t group = by_channel ? channel : l.group(pixel / l.pixels, channel);
        return (x[pixel * l.channels + channel] - statistics.mean[group]) * statistics.factor[group] * gain[channel] +
               (shift == nullptr ? 0 : float{shift[channel]});
    }
};

// dy and dy h: summed over all, the gradients of shift and gain.
template <class T>
struct NormGradientTerm {
    const T *x, *dy;
    NormStatistics statistics;
    NormLayout l;
    SEXTANT_KERNEL FloatPair operator()(std::int64_t sample, std::int64_t pixel, std::int64_t channel) const {
        const std::int64_t at = l.at(sample, pixel, channel), group = l.group(sample, channel);
        return {dy[at], dy[at] * (x[at] - statistics.mean[group]) * statistics.factor[group]};
    }
};

// The same of rows, each with statistics of its own.
template <class T, bool gated>
struct NormRowTerm {
    NormInput<T, gated> x;
    const T* dy;
    NormStatistics statistics;
    NormLayout l;
    SEXTANT_KERNEL FloatPair operator()(std::int64_t, std::int64_t row, std::int64_t i) const {
        const std::int64_t at = row * l.channels + i, group = l.group(row, i);
        const float mean = statistics.mean == nullptr ? 0 : statistics.mean[group], d = dy[at];
        return {d, d * (x.at(at) - mean) * statistics.factor[group]};
    }
};

struct NormWeightGradients {
    const FloatPair* totals;  // [samples, channels]
    float *gain, *shift;
    std::int64_t samples, channels;
    SEXTANT_KERNEL void operator()(std::int64_t channel) const {
        FloatPair sum;
        for (std::int64_t s = 0; s < samples; ++s) sum += totals[s * channels + channel];
        gain[channel] += sum.second;
        if (shift != nullptr) shift[channel] += sum.first;
    }
};

template <class T>
struct NormGroupMeans {
    const FloatPair* totals;
    const T* gain;
    FloatPair* means;
    NormLayout l;
    SEXTANT_KERNEL void operator()(std::int64_t sample, std::int64_t group) const {
        FloatPair sum;
        for (std::int64_t i = group * l.members(); i < (group + 1) * l.members(); ++i) {
            sum.first += gain[i] * totals[sample * l.channels + i].first;
            sum.second += gain[i] * totals[sample * l.channels + i].second;
        }
        means[sample * l.groups + group] = {sum.first / l.count(), sum.second / l.count()};
    }
};

template <class T, bool by_channel>
struct NormGradient : ToMatrix<T> {
    const T *x, *dy, *gain;
    NormStatistics statistics;
    const FloatPair* means;
    NormLayout l;
    SEXTANT_KERNEL float operator()(std::int64_t pixel, std::int64_t channel) const {
        const std::int64_t at = pixel * l.channels + channel, group = by_channel ? channel : l.group(pixel / l.pixels, channel);
        const float factor = statistics.factor[group], h = (x[at] - statistics.mean[group]) * factor;
        return factor * (gain[channel] * dy[at] - means[group].first - h * means[group].second);
    }
};

// `totals`: [segments, channels].
template <class Machine>
void add_to_weights(Machine& m, const NormLayout& l, const Array& totals, std::int64_t segments, const OperatorCall& c) {
    float* shift = c.weights.size() > 1 ? c.weight_gradients[1].reals() : nullptr;
    m.elements(l.channels, NormWeightGradients{values_in<FloatPair>(totals), c.weight_gradients[0].reals(), shift, segments, l.channels});
}

// By row. `y` none: statistics alone.
template <class T, bool gated, class Machine>
void normalize_rows(Machine& m, const NormLayout& l, const NormInput<T, gated>& x, const OperatorCall& c, T* y, const NormStatistics& s) {
    const T* shift = c.weights.size() > 1 ? c.weights[1].as<T>() : nullptr;
    const NormRow<T, gated> row{x, c.weights[0].as<T>(), shift, y, s, l.members(), l.groups, l.centred};
    m.rows(l.samples * l.groups, l.members(), row);
}

// Over pixels.
template <class T, class Machine>
void measure(Machine& m, const NormLayout& l, const T* x, const NormStatistics& s) {
    const NormTerm<T> term{x, l};
    const Array sums = column_totals<FloatPair>(m, term, l.samples, l.pixels, l.channels);
    m.matrix(l.samples, l.groups, NormOfGroup<T>{term, values_in<FloatPair>(sums), s});
}

// work(what rows are normalized of)
template <class T, class Work>
void with_rows(const Normalization& n, const OperatorCall& c, const Work& work) {
    const T* x = c.inputs[0].as<T>();
    n.gated ? work(NormInput<T, true>{x, c.inputs[1].as<T>()}) : work(NormInput<T, false>{x, nullptr});
}

template <class T, class Machine>
void forward(Machine& m, const Normalization& n, const OperatorCall& c) {
    const NormLayout l = layout_of(n, c);
    T* y = c.outputs[0].as<T>();
    const bool kept = c.outputs.size() > 1;
    if (l.by_row) {
        const NormStatistics s = kept ? statistics_in(l, c.outputs[1]) : NormStatistics{nullptr, nullptr};
        return with_rows<T>(n, c, [&](const auto& x) { normalize_rows(m, l, x, c, y, s); });
    }
    const T *x = c.inputs[0].as<T>(), *shift = c.weights.size() > 1 ? c.weights[1].as<T>() : nullptr;
    const Array own = kept ? c.outputs[1] : m.scratch(2 * l.samples * l.groups);
    const NormStatistics s = statistics_in(l, own);
    measure(m, l, x, s);
    with_flag(l.by_channel(), [&]<bool by_channel>() {
        m.matrix(l.samples * l.pixels, l.channels, NormApply<T, by_channel>{{y, l.channels}, x, c.weights[0].as<T>(), shift, s, l});
    });
}

template <class T, bool gated, class Machine>
void rows_backward(Machine& m, const NormLayout& l, const NormInput<T, gated>& x, const OperatorCall& c, const NormStatistics& s) {
    const T *dy = c.output_gradients[0].as<T>(), *gain = c.weights[0].as<T>();
    T *dx = c.input_gradients[0].as<T>(), *d_gate = gated ? c.input_gradients[1].as<T>() : nullptr;
    if (c.outputs.size() == 1) normalize_rows(m, l, x, c, static_cast<T*>(nullptr), s);
    const Array totals = column_totals<FloatPair>(m, NormRowTerm<T, gated>{x, dy, s, l}, 1, l.samples, l.channels);
    add_to_weights(m, l, totals, 1, c);
    if (dx != nullptr)
        m.rows(l.samples * l.groups, l.members(), NormRowGradient<T, gated>{x, dy, gain, dx, d_gate, s, l.members(), l.groups});
}

template <class T, class Machine>
void backward(Machine& m, const Normalization& n, const OperatorCall& c) {
    const NormLayout l = layout_of(n, c);
    const T *x = c.inputs[0].as<T>(), *dy = c.output_gradients[0].as<T>(), *gain = c.weights[0].as<T>();
    const bool kept = c.outputs.size() > 1;
    const Array own = kept ? c.outputs[1] : m.scratch(2 * l.samples * l.groups);
    const NormStatistics s = statistics_in(l, own);
    if (l.by_row) return with_rows<T>(n, c, [&](const auto& rows) { rows_backward(m, l, rows, c, s); });
    T* dx = c.input_gradients[0].as<T>();
    if (!kept) measure(m, l, x, s);
    const Array totals = column_totals<FloatPair>(m, NormGradientTerm<T>{x, dy, s, l}, l.samples, l.pixels, l.channels);
    add_to_weights(m, l, totals, l.samples, c);
    if (dx == nullptr) return;
    const Array means = m.scratch(2 * l.samples * l.groups);
    m.matrix(l.samples, l.groups, NormGroupMeans<T>{values_in<FloatPair>(totals), gain, values_in<FloatPair>(means), l});
    with_flag(l.by_channel(), [&]<bool by_channel>() {
        m.matrix(l.samples * l.pixels, l.channels,
                 NormGradient<T, by_channel>{{dx, l.channels}, x, dy, gain, s, values_in<FloatPair>(means), l});
    });
}

}  // namespace sextant::kernels
