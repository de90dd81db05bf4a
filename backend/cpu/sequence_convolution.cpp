// A convolution of each channel along its sequence, through SiLU. What is convolved is made again for backward.
#include "backend/cpu/operators.hpp"

#include <algorithm>

namespace sextant::cpu {
namespace {

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

    void convolve(float* to) const {
        const float *x = c_.inputs[array_].reals(), *bias = c_.weights[1].reals() + first_;
        for_each_token([&](std::int64_t token, std::int64_t) { std::copy_n(bias, channels_, to + token * channels_); });
        for_each_tap([&](std::int64_t token, std::int64_t before, std::int64_t k) {
            const float *from = x + before * channels_, *tap = taps_.data() + k * channels_;
            float* row = to + token * channels_;
            for (std::int64_t i = 0; i < channels_; ++i) row[i] += tap[i] * from[i];
        });
    }
    // From the gradient of what convolve() makes.
    void backward(const float* d) const {
        const float* x = c_.inputs[array_].reals();
        std::vector<float> of_taps(taps_.size());
        float* dx = c_.input_gradients[array_] ? c_.input_gradients[array_].reals() : nullptr;
        if (dx != nullptr) std::fill_n(dx, c_.input_gradients[array_].elements, 0.0F);
        for_each_tap([&](std::int64_t token, std::int64_t before, std::int64_t k) {
            const float *from = x + before * channels_, *row = d + token * channels_, *tap = taps_.data() + k * channels_;
            float* sums = of_taps.data() + k * channels_;
            for (std::int64_t i = 0; i < channels_; ++i) sums[i] += row[i] * from[i];
            if (dx != nullptr)
                for (std::int64_t i = 0; i < channels_; ++i) dx[before * channels_ + i] += tap[i] * row[i];
        });
        float* to = c_.weight_gradients[0].reals() + first_ * s_.kernel;
        for (std::int64_t i = 0; i < channels_; ++i)
            for (std::int64_t k = 0; k < s_.kernel; ++k) to[i * s_.kernel + k] += of_taps[k * channels_ + i];
        add_column_sums(d, c_.weight_gradients[1].reals() + first_, s_.batch * s_.sequence, channels_);
    }

private:
    template <class Work>
    void for_each_token(const Work& work) const {
        for (std::int64_t token = 0; token < s_.batch * s_.sequence; ++token) work(token, token % s_.sequence);
    }
    template <class Work>
    void for_each_tap(const Work& work) const {
        for_each_token([&](std::int64_t token, std::int64_t position) {
            for (std::int64_t k = 0; k < s_.kernel; ++k)
                if (const std::int64_t back = s_.kernel - 1 - k; back <= position) work(token, token - back, k);
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
        float* y = c.outputs[i].reals();
        filters.convolve(y);
        engine.apply(Curve::silu, y, y, c.outputs[i].elements);
    });
}

void backward(Engine& engine, const SequenceConvolution& s, const OperatorCall& c) {
    for_each_array(s, c, [&](std::size_t i, const Filters& filters) {
        if (!c.output_gradients[i]) return;
        const std::int64_t elements = c.inputs[i].elements;
        float *convolved = engine.scratch.reals(elements), *d = engine.scratch.reals(elements);
        filters.convolve(convolved);
        engine.differentiate(Curve::silu, convolved, c.output_gradients[i].reals(), d, elements);
        filters.backward(d);
    });
}

}  // namespace sextant::cpu
