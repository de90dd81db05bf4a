// Batch and group norms: elements [samples, pixels, channels], each group of neighbouring channels of a sample brought to mean 0 and
// variance 1, then scaled and shifted by channel. To a batch norm all pixels are of one sample, and each channel is a group.
#include "backend/cpu/normalization.hpp"
#include "backend/kernels/norm_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace sextant::cpu {
namespace {

constexpr std::int64_t lines_at_once = 64;  // summed in fp32 before they enter a sum in fp64

// Pixels of few channels lie side by side in a line, so that a loop over it is long.
std::int64_t pixels_of_line(std::int64_t pixels, std::int64_t channels) {
    constexpr std::int64_t long_enough = 64;
    std::int64_t together = 1;
    while (2 * together * channels <= long_enough && pixels % (2 * together) == 0) together *= 2;
    return together;
}

struct Layout : kernels::NormLayout {
    std::int64_t together = 1, lines = 1, width = 1;  // pixels of a line, lines of a sample, elements of a line

    Layout(const Normalization& n, const OperatorCall& c)
        : NormLayout(kernels::layout_of(n, c)),
          together(pixels_of_line(pixels, channels)),
          lines(pixels / together),
          width(channels * together) {}
    [[nodiscard]] double of_group() const { return static_cast<double>(pixels * members()); }  // elements
    [[nodiscard]] std::int64_t sample_elements() const { return pixels * channels; }

    // value(channel) of each element of a line.
    template <class Value>
    [[nodiscard]] std::vector<float> of_line(const Value& value) const {
        std::vector<float> line(width);
        for (std::int64_t i = 0; i < channels; ++i) line[i] = static_cast<float>(value(i));
        for (std::int64_t p = 1; p < together; ++p) std::copy_n(line.begin(), channels, line.begin() + p * channels);
        return line;
    }
};

// Sums over the pixels of a sample, by channel, of two quantities at once: term(line, sums of the first, sums of the second).
struct ChannelSums {
    explicit ChannelSums(const Layout& l) : first(l.channels), second(l.channels), layout_(l), a_(l.width), b_(l.width) {}

    template <class Term>
    void sum(const Term& term) {
        std::ranges::fill(first, 0);
        std::ranges::fill(second, 0);
        for (std::int64_t begin = 0; begin < layout_.lines; begin += lines_at_once) {
            std::ranges::fill(a_, 0.0F);
            std::ranges::fill(b_, 0.0F);
            for (std::int64_t line = begin; line < std::min(layout_.lines, begin + lines_at_once); ++line) term(line, a_.data(), b_.data());
            for (std::int64_t i = 0; i < layout_.width; ++i) {
                first[i % layout_.channels] += a_[i];
                second[i % layout_.channels] += b_[i];
            }
        }
    }
    std::vector<double> first, second;

private:
    const Layout& layout_;
    std::vector<float> a_, b_;
};

double group_sum(const std::vector<double>& by_channel, const Layout& l, std::int64_t group) {
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

// sums(channel) of its group, for each element of a line.
template <class Of>
std::vector<float> of_groups(const Layout& l, const Of& of) {
    std::vector<double> values(l.groups);
    for (std::int64_t g = 0; g < l.groups; ++g) values[g] = of(g);
    return l.of_line([&](std::int64_t channel) { return values[channel / l.members()]; });
}

// Mean and reciprocal deviation of one sample, for each element of a line.
struct Statistics {
    std::vector<float> mean, factor;

    void measure(const Layout& l, ChannelSums& sums, const float* x) {
        sums.sum([&](std::int64_t line, float* __restrict a, float*) {
            for (std::int64_t i = 0; i < l.width; ++i) a[i] += x[line * l.width + i];
        });
        mean = of_groups(l, [&](std::int64_t g) { return group_sum(sums.first, l, g) / l.of_group(); });
        sums.sum([&, m = mean.data()](std::int64_t line, float* __restrict a, float*) {
            for (std::int64_t i = 0; i < l.width; ++i) {
                const float d = x[line * l.width + i] - m[i];
                a[i] += d * d;
            }
        });
        factor =
            of_groups(l, [&](std::int64_t g) { return 1 / std::sqrt(group_sum(sums.first, l, g) / l.of_group() + kernels::norm_epsilon); });
    }
    // To and from a tensor [mean, factor] x [samples x groups].
    void store(const Layout& l, std::int64_t sample, float* to) const {
        const std::int64_t rows = l.samples * l.groups;
        for (std::int64_t g = 0; g < l.groups; ++g) {
            to[sample * l.groups + g] = mean[g * l.members()];
            to[rows + sample * l.groups + g] = factor[g * l.members()];
        }
    }
    void load(const Layout& l, std::int64_t sample, const float* from) {
        const std::int64_t rows = l.samples * l.groups;
        mean = of_groups(l, [&](std::int64_t g) { return from[sample * l.groups + g]; });
        factor = of_groups(l, [&](std::int64_t g) { return from[rows + sample * l.groups + g]; });
    }
};

// y = (x - mean) slope + shift
void scale_and_shift(const Layout& l, const float* __restrict x, const float* __restrict mean, const float* __restrict slope,
                     const float* __restrict shift, float* __restrict y) {
    for (std::int64_t line = 0; line < l.lines; ++line, x += l.width, y += l.width)
        for (std::int64_t i = 0; i < l.width; ++i) y[i] = (x[i] - mean[i]) * slope[i] + shift[i];
}

// dx = slope dy + along x + start
void make_input_gradient(const Layout& l, const float* __restrict x, const float* __restrict dy, const float* __restrict slope,
                         const float* __restrict along, const float* __restrict start, float* __restrict dx) {
    for (std::int64_t line = 0; line < l.lines; ++line, x += l.width, dy += l.width, dx += l.width)
        for (std::int64_t i = 0; i < l.width; ++i) dx[i] = slope[i] * dy[i] + along[i] * x[i] + start[i];
}

bool is_of_rows(const Normalization& n) { return n.kind == NormKind::layer || n.kind == NormKind::rms; }

}  // namespace

void forward(Engine& engine, const Normalization& n, const OperatorCall& c) {
    if (is_of_rows(n)) return forward_row_norm(engine, n, c);
    const Layout l(n, c);
    ChannelSums sums(l);
    Statistics s;
    const float *gain = c.weights[0].reals(), *bias = c.weights.size() > 1 ? c.weights[1].reals() : nullptr;
    const std::vector<float> shift = l.of_line([&](std::int64_t i) { return bias != nullptr ? bias[i] : 0; });
    for (std::int64_t sample = 0; sample < l.samples; ++sample) {
        const float* x = c.inputs[0].reals() + sample * l.sample_elements();
        s.measure(l, sums, x);
        if (c.outputs.size() > 1) s.store(l, sample, c.outputs[1].reals());
        const std::vector<float> slope = l.of_line([&](std::int64_t i) { return gain[i] * s.factor[i]; });
        scale_and_shift(l, x, s.mean.data(), slope.data(), shift.data(), c.outputs[0].reals() + sample * l.sample_elements());
    }
}

// With h = (x - mean) factor, of n elements: dx = factor (gain dy - mean(gain dy) - h mean(gain dy h)).
void backward(Engine& engine, const Normalization& n, const OperatorCall& c) {
    if (is_of_rows(n)) return backward_row_norm(engine, n, c);
    const Layout l(n, c);
    Statistics s;
    ChannelSums sums(l);
    const float* gain = c.weights[0].reals();
    for (std::int64_t sample = 0; sample < l.samples; ++sample) {
        const float* x = c.inputs[0].reals() + sample * l.sample_elements();
        const float* dy = c.output_gradients[0].reals() + sample * l.sample_elements();
        if (c.outputs.size() > 1)
            s.load(l, sample, c.outputs[1].reals());
        else
            s.measure(l, sums, x);
        sums.sum([&, mean = s.mean.data(), factor = s.factor.data()](std::int64_t line, float* __restrict a, float* __restrict b) {
            for (std::int64_t i = 0; i < l.width; ++i) {
                const float d = dy[line * l.width + i];
                a[i] += d;
                b[i] += d * (x[line * l.width + i] - mean[i]) * factor[i];
            }
        });
        for (std::int64_t i = 0; i < l.channels; ++i) {
            c.weight_gradients[0].reals()[i] += static_cast<float>(sums.second[i]);
            if (c.weights.size() > 1) c.weight_gradients[1].reals()[i] += static_cast<float>(sums.first[i]);
            sums.first[i] *= gain[i];
            sums.second[i] *= gain[i];
        }
        if (!c.input_gradients[0]) continue;
        const std::vector<float> mean_dy = of_groups(l, [&](std::int64_t g) { return group_sum(sums.first, l, g) / l.of_group(); });
        const std::vector<float> mean_dyh = of_groups(l, [&](std::int64_t g) { return group_sum(sums.second, l, g) / l.of_group(); });
        const std::vector<float> slope = l.of_line([&](std::int64_t i) { return gain[i] * s.factor[i]; });
        const std::vector<float> along = l.of_line([&](std::int64_t i) { return -s.factor[i] * mean_dyh[i] * s.factor[i]; });
        const std::vector<float> start = l.of_line([&](std::int64_t i) { return -s.factor[i] * mean_dy[i] - along[i] * s.mean[i]; });
        make_input_gradient(l, x, dy, slope.data(), along.data(), start.data(),
                            c.input_gradients[0].reals() + sample * l.sample_elements());
    }
}

}  // namespace sextant::cpu
