// Layer, RMS, batch and group norms; NormLayout says how they are one. Where a norm is gated, x stands for the product of the input and
// SiLU of the gate.
#include "backend/cpu/operators.hpp"
#include "backend/kernels/norm_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace sextant::cpu {
namespace {

constexpr double epsilon = 1e-5;             // added to the variance
constexpr std::int64_t pixels_at_once = 64;  // summed in fp32 before they enter a sum in fp64

using kernels::NormLayout;

double count_of(const NormLayout& l) { return static_cast<double>(l.pixels * l.members()); }  // of elements in a group
std::int64_t sample_elements(const NormLayout& l) { return l.pixels * l.channels; }

// Sums over the pixels of a sample, by channel, of up to two quantities at once: term(pixel, channel) adds to the two floats.
class ChannelSums {
public:
    explicit ChannelSums(std::int64_t channels) : first(channels), second(channels), a_(channels), b_(channels) {}

    template <class Term>
    void sum(std::int64_t pixels, const Term& term) {
        for (std::int64_t begin = 0; begin < pixels; begin += pixels_at_once) {
            std::fill(a_.begin(), a_.end(), 0.0F);
            std::fill(b_.begin(), b_.end(), 0.0F);
            for (std::int64_t p = begin; p < std::min(pixels, begin + pixels_at_once); ++p) term(p, a_.data(), b_.data());
            for (std::size_t c = 0; c < a_.size(); ++c) {
                first[c] = (begin > 0 ? first[c] : 0) + a_[c];
                second[c] = (begin > 0 ? second[c] : 0) + b_[c];
            }
        }
    }
    std::vector<double> first, second;

private:
    std::vector<float> a_, b_;
};

double group_sum(const std::vector<double>& by_channel, const NormLayout& l, std::int64_t group) {
    // Several sums side by side: a single one would wait for each addition.
    std::array<double, 8> sums{};
    const double* values = by_channel.data() + group * l.members();
    const auto lanes = static_cast<std::int64_t>(sums.size());
    std::int64_t i = 0;
    for (; i + lanes <= l.members(); i += lanes)
        for (std::int64_t k = 0; k < lanes; ++k) sums[k] += values[i + k];
    for (; i < l.members(); ++i) sums[0] += values[i];
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Mean and reciprocal deviation of one sample, spread over its channels.
struct Statistics {
    explicit Statistics(const NormLayout& l) : mean(l.channels), factor(l.channels), sums(l.channels) {}

    void measure(const NormLayout& l, const float* x) {
        if (l.centred) {
            sums.sum(l.pixels, [&](std::int64_t p, float* a, float*) {
                for (std::int64_t c = 0; c < l.channels; ++c) a[c] += x[p * l.channels + c];
            });
            spread(l, mean, [&](std::int64_t g) { return group_sum(sums.first, l, g) / count_of(l); });
        }
        sums.sum(l.pixels, [&](std::int64_t p, float* a, float*) {
            for (std::int64_t c = 0; c < l.channels; ++c) {
                const float d = x[p * l.channels + c] - mean[c];
                a[c] += d * d;
            }
        });
        spread(l, factor, [&](std::int64_t g) { return 1 / std::sqrt(group_sum(sums.first, l, g) / count_of(l) + epsilon); });
    }
    // To and from a tensor [mean, factor] x [samples x groups]; an RMS norm has no mean.
    void store(const NormLayout& l, std::int64_t sample, float* to) const {
        const std::int64_t rows = l.samples * l.groups;
        for (std::int64_t g = 0; g < l.groups; ++g) {
            if (l.centred) to[sample * l.groups + g] = mean[g * l.members()];
            to[(l.centred ? rows : 0) + sample * l.groups + g] = factor[g * l.members()];
        }
    }
    void load(const NormLayout& l, std::int64_t sample, const float* from) {
        const std::int64_t rows = l.samples * l.groups;
        if (l.centred) spread(l, mean, [&](std::int64_t g) { return from[sample * l.groups + g]; });
        spread(l, factor, [&](std::int64_t g) { return from[(l.centred ? rows : 0) + sample * l.groups + g]; });
    }

    std::vector<float> mean, factor;  // by channel
    ChannelSums sums;

private:
    template <class Value>
    static void spread(const NormLayout& l, std::vector<float>& to, const Value& value) {
        for (std::int64_t g = 0; g < l.groups; ++g) std::fill_n(to.begin() + g * l.members(), l.members(), static_cast<float>(value(g)));
    }
};

// The rows of a gated normalization, made one by one.
class GatedRows {
public:
    GatedRows(Engine& engine, const OperatorCall& c, const NormLayout& l) : engine_(engine), c_(c), width_(l.channels) {}

    const float* of(std::int64_t row) {
        open_.resize(width_);
        product_.resize(width_);
        const float* x = c_.inputs[0].reals() + row * width_;
        engine_.apply(Curve::silu, c_.inputs[1].reals() + row * width_, open_.data(), width_);
        for (std::int64_t i = 0; i < width_; ++i) product_[i] = x[i] * open_[i];
        return product_.data();
    }
    // Of the row that was made last, with the gradient of the product, which the first input's takes the place of.
    void backward(std::int64_t row, float* d) {
        const float *x = c_.inputs[0].reals() + row * width_, *gate = c_.inputs[1].reals() + row * width_;
        for (std::int64_t i = 0; i < width_; ++i) {
            product_[i] = d[i] * x[i];
            d[i] *= open_[i];
        }
        if (c_.input_gradients[1])
            engine_.differentiate(Curve::silu, gate, product_.data(), c_.input_gradients[1].reals() + row * width_, width_);
    }

private:
    Engine& engine_;
    const OperatorCall& c_;
    std::int64_t width_;
    std::vector<float> open_, product_;
};

// With h = (x - mean) factor, of n elements: dx = factor (gain dy - mean(gain dy) - h mean(gain dy h)); an RMS norm lacks the second term.
// By channel that is slope dy + along x + start.
class InputGradient {
public:
    explicit InputGradient(const NormLayout& l) : slope_(l.channels), along_(l.channels), start_(l.channels) {}

    // `sums`: over a sample, of gain dy and of gain dy h.
    void find(const NormLayout& l, const Statistics& s, const ChannelSums& sums, const float* gain) {
        for (std::int64_t g = 0; g < l.groups; ++g) {
            const double mean_dy = l.centred ? group_sum(sums.first, l, g) / count_of(l) : 0;
            const double mean_dyh = group_sum(sums.second, l, g) / count_of(l);
            for (std::int64_t i = g * l.members(); i < (g + 1) * l.members(); ++i) {
                slope_[i] = gain[i] * s.factor[i];
                along_[i] = static_cast<float>(-s.factor[i] * mean_dyh * s.factor[i]);
                start_[i] = static_cast<float>(-s.factor[i] * mean_dy) - along_[i] * s.mean[i];
            }
        }
    }
    void write(const NormLayout& l, const float* x, const float* dy, float* dx) const {
        for (std::int64_t p = 0; p < l.pixels; ++p)
            for (std::int64_t i = 0; i < l.channels; ++i) {
                const std::int64_t at = p * l.channels + i;
                dx[at] = slope_[i] * dy[at] + along_[i] * x[at] + start_[i];
            }
    }

private:
    std::vector<float> slope_, along_, start_;
};

}  // namespace

void forward(Engine& engine, const Normalization& n, const OperatorCall& c) {
    const NormLayout l = kernels::layout_of(n, c);
    Statistics s(l);
    GatedRows rows(engine, c, l);
    const float* gain = c.weights[0].reals();
    const float* shift = c.weights.size() > 1 ? c.weights[1].reals() : nullptr;
    std::vector<float> slope(l.channels), start(l.channels);
    if (shift != nullptr) start.assign(shift, shift + l.channels);
    for (std::int64_t sample = 0; sample < l.samples; ++sample) {
        const float* x = n.gated ? rows.of(sample) : c.inputs[0].reals() + sample * sample_elements(l);
        float* y = c.outputs[0].reals() + sample * sample_elements(l);
        s.measure(l, x);
        if (c.outputs.size() > 1) s.store(l, sample, c.outputs[1].reals());
        for (std::int64_t i = 0; i < l.channels; ++i) slope[i] = gain[i] * s.factor[i];
        for (std::int64_t p = 0; p < l.pixels; ++p)
            for (std::int64_t i = 0; i < l.channels; ++i) y[p * l.channels + i] = (x[p * l.channels + i] - s.mean[i]) * slope[i] + start[i];
    }
}

void backward(Engine& engine, const Normalization& n, const OperatorCall& c) {
    const NormLayout l = kernels::layout_of(n, c);
    Statistics s(l);
    GatedRows rows(engine, c, l);
    ChannelSums sums(l.channels);
    const float* gain = c.weights[0].reals();
    InputGradient gradient(l);
    for (std::int64_t sample = 0; sample < l.samples; ++sample) {
        const float* x = n.gated ? rows.of(sample) : c.inputs[0].reals() + sample * sample_elements(l);
        const float* dy = c.output_gradients[0].reals() + sample * sample_elements(l);
        if (c.outputs.size() > 1)
            s.load(l, sample, c.outputs[1].reals());
        else
            s.measure(l, x);
        sums.sum(l.pixels, [&](std::int64_t p, float* a, float* b) {
            for (std::int64_t i = 0; i < l.channels; ++i) {
                const float d = dy[p * l.channels + i];
                a[i] += d;
                b[i] += d * (x[p * l.channels + i] - s.mean[i]) * s.factor[i];
            }
        });
        for (std::int64_t i = 0; i < l.channels; ++i) {
            c.weight_gradients[0].reals()[i] += static_cast<float>(sums.second[i]);
            if (c.weights.size() > 1) c.weight_gradients[1].reals()[i] += static_cast<float>(sums.first[i]);
            sums.first[i] *= gain[i];
            sums.second[i] *= gain[i];
        }
        if (!c.input_gradients[0]) continue;
        float* dx = c.input_gradients[0].reals() + sample * sample_elements(l);
        gradient.find(l, s, sums, gain);
        gradient.write(l, x, dy, dx);
        if (n.gated) rows.backward(sample, dx);
    }
}

}  // namespace sextant::cpu
