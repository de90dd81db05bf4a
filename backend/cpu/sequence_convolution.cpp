// A convolution of each channel along its sequence, through SiLU. What is convolved is made again for backward.
#include "backend/cpu/operators.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace sextant::cpu {
namespace {

// work(first channel, how many), so many that sums of theirs stay in registers, and the rest.
template <class Work>
void for_some_channels(std::int64_t channels, const Work& work) {
    constexpr std::int64_t together = 32;
    std::int64_t first = 0;
    for (; first + together <= channels; first += together) work(first, std::integral_constant<std::int64_t, together>{});
    if (first < channels) work(first, channels - first);
}
using RegisterSums = std::array<float, 32>;

// Some tokens of a sample, which the cache holds, and those behind them that read them too.
struct SomeTokens {
    std::int64_t sample, first, count, with_readers;
};

// Of one of the arrays: its channels, with their filters as rows of taps, the last of which meets the token itself.
class Filters {
public:
    Filters(const SequenceConvolution& s, const OperatorCall& c, std::size_t array, std::int64_t first_channel)
        : s_(s),
          c_(c),
          array_(array),
          first_(first_channel),
          channels_(c.inputs[array].elements / (s.batch * s.sequence)),
          taps_(static_cast<std::size_t>(s.kernel * channels_)) {
        const float* weights = c.weights[0].reals() + first_ * s.kernel;
        for (std::int64_t i = 0; i < channels_; ++i)
            for (std::int64_t k = 0; k < s.kernel; ++k) taps_[k * channels_ + i] = weights[i * s.kernel + k];
    }
    [[nodiscard]] std::int64_t channels() const { return channels_; }
    [[nodiscard]] std::int64_t at(std::int64_t sample, std::int64_t token) const { return (sample * s_.sequence + token) * channels_; }

    template <class Work>
    void for_some_tokens(const Work& work) const {
        for (std::int64_t sample = 0; sample < s_.batch; ++sample)
            for_some_rows(s_.sequence, channels_, [&](std::int64_t first, std::int64_t count) {
                work(SomeTokens{sample, first, count, std::min(count + s_.kernel - 1, s_.sequence - first)});
            });
    }
    // Of so many tokens of those, side by side.
    void convolve(const SomeTokens& t, std::int64_t count, float* __restrict to) const {
        const float *x = c_.inputs[array_].reals(), *bias = c_.weights[1].reals() + first_;
        for (std::int64_t token = t.first; token < t.first + count; ++token, to += channels_)
            for_some_channels(channels_, [&](std::int64_t first, auto some) {
                RegisterSums sums;
                std::copy_n(bias + first, some, sums.begin());
                for (std::int64_t back = 0; back < s_.kernel && back <= token; ++back)
                    add_products(some, tap(back) + first, x + at(t.sample, token - back) + first, sums);
                std::copy_n(sums.begin(), some, to + first);
            });
    }
    // From the gradient of what convolve() makes, also of those behind.
    void backward(const SomeTokens& t, const float* d) const {
        if (c_.input_gradients[array_]) make_input_gradient(t, d, c_.input_gradients[array_].reals() + at(t.sample, t.first));
        add_tap_gradients(t, d);
        add_column_sums(d, c_.weight_gradients[1].reals() + first_, t.count, channels_);
    }

private:
    [[nodiscard]] const float* tap(std::int64_t back) const { return taps_.data() + (s_.kernel - 1 - back) * channels_; }
    template <class Count>
    static void add_products(Count count, const float* __restrict a, const float* __restrict b, RegisterSums& sums) {
        for (std::int64_t i = 0; i < count; ++i) sums[static_cast<std::size_t>(i)] += a[i] * b[i];
    }
    void make_input_gradient(const SomeTokens& t, const float* d, float* __restrict dx) const {
        for (std::int64_t token = 0; token < t.count; ++token)
            for_some_channels(channels_, [&](std::int64_t first, auto some) {
                RegisterSums sums{};
                for (std::int64_t back = 0; back < s_.kernel && token + back < t.with_readers; ++back)
                    add_products(some, tap(back) + first, d + (token + back) * channels_ + first, sums);
                std::copy_n(sums.begin(), some, dx + token * channels_ + first);
            });
    }
    void add_tap_gradients(const SomeTokens& t, const float* d) const {
        const float* x = c_.inputs[array_].reals() + at(t.sample, t.first);
        float* to = c_.weight_gradients[0].reals() + first_ * s_.kernel;
        for (std::int64_t back = 0; back < s_.kernel; ++back)
            for_some_channels(channels_, [&](std::int64_t first, auto some) {
                RegisterSums sums{};
                for (std::int64_t token = std::max<std::int64_t>(0, back - t.first); token < t.count; ++token)
                    add_products(some, d + token * channels_ + first, x + (token - back) * channels_ + first, sums);
                for (std::int64_t i = 0; i < some; ++i)
                    to[(first + i) * s_.kernel + s_.kernel - 1 - back] += sums[static_cast<std::size_t>(i)];
            });
    }

    const SequenceConvolution& s_;
    const OperatorCall& c_;
    std::size_t array_;
    std::int64_t first_, channels_;
    std::vector<float> taps_;
};

template <class Work>
void for_each_array(const SequenceConvolution& s, const OperatorCall& c, const Work& work) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        const Filters filters(s, c, i, first);
        work(i, filters);
        first += filters.channels();
    }
}

}  // namespace

void forward(Engine& engine, const SequenceConvolution& s, const OperatorCall& c) {
    for_each_array(s, c, [&](std::size_t i, const Filters& filters) {
        filters.for_some_tokens([&](const SomeTokens& t) {
            float* y = c.outputs[i].reals() + filters.at(t.sample, t.first);
            filters.convolve(t, t.count, y);
            engine.apply(Curve::silu, y, y, t.count * filters.channels());
        });
    });
}

void backward(Engine& engine, const SequenceConvolution& s, const OperatorCall& c) {
    for_each_array(s, c, [&](std::size_t i, const Filters& filters) {
        if (!c.output_gradients[i]) return;
        const std::int64_t most = (rows_at_once(filters.channels()) + s.kernel - 1) * filters.channels();
        float *convolved = engine.scratch.reals(most), *d = engine.scratch.reals(most);
        filters.for_some_tokens([&](const SomeTokens& t) {
            filters.convolve(t, t.with_readers, convolved);
            engine.differentiate(Curve::silu, convolved, c.output_gradients[i].reals() + filters.at(t.sample, t.first), d,
                                 t.with_readers * filters.channels());
            filters.backward(t, d);
        });
    });
}

}  // namespace sextant::cpu
