// The optimizers, each as its paper has it: Adam (arXiv 1412.6980, algorithm 1), AdamW (arXiv 1711.05101, algorithm 2), LAMB (arXiv
// 1904.00962, algorithm 2), Lion (arXiv 2302.06675, algorithm 2); momentum as PyTorch has it, the velocity being a sum of gradients.
#include "backend/cpu/cpu_device.hpp"
#include "model/base/ceil_divide.hpp"
#include "model/base/failure.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

struct Run {
    const OptimizerSettings& o;
    float *w, *m, *v;
    const float* g;
    std::int64_t count;
    float rate, decay, correction1, correction2;

    Run(const OptimizerSettings& settings, int step, const Array& weights, const Array& gradients, std::span<const Array> states)
        : o(settings),
          w(weights.reals()),
          m(states.empty() ? nullptr : states[0].reals()),
          v(states.size() < 2 ? nullptr : states[1].reals()),
          g(gradients.reals()),
          count(weights.elements),
          rate(static_cast<float>(o.learning_rate)),
          decay(static_cast<float>(o.weight_decay)),
          correction1(static_cast<float>(1 / (1 - std::pow(o.beta1, step)))),
          correction2(static_cast<float>(1 / (1 - std::pow(o.beta2, step)))) {}

    [[nodiscard]] Run part(std::int64_t first, std::int64_t elements) const {
        Run run = *this;
        for (float** a : {&run.w, &run.m, &run.v})
            if (*a != nullptr) *a += first;
        run.g += first;
        run.count = elements;
        return run;
    }
    void sgd() const {
        for (std::int64_t i = 0; i < count; ++i) w[i] -= rate * (g[i] + decay * w[i]);
    }
    void momentum() const {
        const auto keep = static_cast<float>(o.momentum);
        for (std::int64_t i = 0; i < count; ++i) {
            m[i] = keep * m[i] + g[i] + decay * w[i];
            w[i] -= rate * m[i];
        }
    }
    void lion() const {
        const auto beta1 = static_cast<float>(o.beta1), beta2 = static_cast<float>(o.beta2);
        for (std::int64_t i = 0; i < count; ++i) {
            const float way = beta1 * m[i] + (1 - beta1) * g[i];
            w[i] -= rate * ((way > 0 ? 1.0F : way < 0 ? -1.0F : way) + decay * w[i]);
            m[i] = beta2 * m[i] + (1 - beta2) * g[i];
        }
    }
    // `coupled`: the decay goes through the moments (Adam), `apart`: it does not (AdamW).
    void adam(float coupled, float apart) const {
        for (std::int64_t i = 0; i < count; ++i) w[i] -= rate * (moment_step(i, coupled) + apart * w[i]);
    }
    // Of a part of a tensor, whose step is as long as the tensor is. In one pass, which computes while it waits for memory.
    void take_moments(float* added) const {
        constexpr std::int64_t summed = 1024;  // in fp32 before they enter a sum in fp64
        double weights = 0, steps = 0;
        for (std::int64_t begin = 0; begin < count; begin += summed) {
            float of_weights = 0, of_steps = 0;
#pragma omp simd reduction(+ : of_weights, of_steps)
            for (std::int64_t i = begin; i < std::min(begin + summed, count); ++i) {
                const float weight = w[i], way = moment_step(i, 0) + decay * weight;
                of_weights += weight * weight;
                of_steps += way * way;
            }
            weights += of_weights;
            steps += of_steps;
        }
        if (added == nullptr) return;
        added[0] += static_cast<float>(weights);
        added[1] += static_cast<float>(steps);
    }
    void step_in_proportion(const float* all) const {
        const float trust = all[0] > 0 && all[1] > 0 ? std::sqrt(all[0] / all[1]) : 1, scaled = rate * trust;
        for (std::int64_t i = 0; i < count; ++i) w[i] -= scaled * (step_of(i) + decay * w[i]);
    }

private:
    [[nodiscard]] float step_of(std::int64_t i) const {
        return m[i] * correction1 / (std::sqrt(v[i] * correction2) + static_cast<float>(o.epsilon));
    }
    void take_moments(std::int64_t i, float coupled) const {
        const auto beta1 = static_cast<float>(o.beta1), beta2 = static_cast<float>(o.beta2);
        const float gradient = g[i] + coupled * w[i];
        m[i] = beta1 * m[i] + (1 - beta1) * gradient;
        v[i] = beta2 * v[i] + (1 - beta2) * gradient * gradient;
    }
    [[nodiscard]] float moment_step(std::int64_t i, float coupled) const {
        take_moments(i, coupled);
        return step_of(i);
    }
};

// On all threads, as one core has but a part of the memory's bandwidth. Few elements are not worth waking others for.
template <class Step>
void in_parts(const Run& run, const Step& step) {
    constexpr std::int64_t most = 1 << 16;
    const std::int64_t parts = ceil_divide(run.count, most);
#pragma omp parallel for schedule(static) if (parts > 1)
    for (std::int64_t p = 0; p < parts; ++p) step(run.part(p * most, std::min(most, run.count - p * most)));
}

}  // namespace

void CpuDevice::update(const OptimizerSettings& o, int step, const Array& weights, const Array& gradients, std::span<const Array> states) {
    const Run run(o, step, weights, gradients, states);
    switch (o.kind) {
        case Optimizer::sgd: return in_parts(run, [](const Run& part) { part.sgd(); });
        case Optimizer::momentum: return in_parts(run, [](const Run& part) { part.momentum(); });
        case Optimizer::adam: return in_parts(run, [](const Run& part) { part.adam(part.decay, 0); });
        case Optimizer::adamw: return in_parts(run, [](const Run& part) { part.adam(0, part.decay); });
        case Optimizer::lion: return in_parts(run, [](const Run& part) { part.lion(); });
        case Optimizer::lamb: broken_invariant("LAMB takes its step in two parts");
        case Optimizer::adamw_8bit:
        case Optimizer::adafactor:
        case Optimizer::muon: broken_invariant("unsupported() refuses it");
    }
}

void CpuDevice::take_moments(const OptimizerSettings& o, int step, const Array& weights, const Array& gradients,
                             std::span<const Array> states, const Array& squares) {
    Run(o, step, weights, gradients, states).take_moments(squares.reals());
}

void CpuDevice::step_in_proportion(const OptimizerSettings& o, int step, const Array& weights, std::span<const Array> states,
                                   const Array& squares) {
    Run(o, step, weights, {}, states).step_in_proportion(squares.reals());
}

}  // namespace sextant
