// The optimizers, each as its paper has it: Adam (arXiv 1412.6980, algorithm 1), AdamW (arXiv 1711.05101, algorithm 2), LAMB (arXiv
// 1904.00962, algorithm 2); momentum as PyTorch has it, the velocity being a sum of gradients.
#include "backend/cpu/cpu_device.hpp"

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
    // `coupled`: the decay goes through the moments (Adam), `apart`: it does not (AdamW).
    void adam(float coupled, float apart) const {
        for (std::int64_t i = 0; i < count; ++i) w[i] -= rate * (moment_step(i, coupled) + apart * w[i]);
    }
    // The run is one tensor: its step is as long as the tensor is.
    void lamb() const {
        double weight_norm = 0, step_norm = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const float step = moment_step(i, 0) + decay * w[i];
            weight_norm += static_cast<double>(w[i]) * w[i];
            step_norm += static_cast<double>(step) * step;
        }
        const double trust = weight_norm > 0 && step_norm > 0 ? std::sqrt(weight_norm / step_norm) : 1;
        const float scaled = rate * static_cast<float>(trust);
        for (std::int64_t i = 0; i < count; ++i) w[i] -= scaled * (step_of(i) + decay * w[i]);
    }

private:
    [[nodiscard]] float step_of(std::int64_t i) const {
        return m[i] * correction1 / (std::sqrt(v[i] * correction2) + static_cast<float>(o.epsilon));
    }
    [[nodiscard]] float moment_step(std::int64_t i, float coupled) const {
        const auto beta1 = static_cast<float>(o.beta1), beta2 = static_cast<float>(o.beta2);
        const float gradient = g[i] + coupled * w[i];
        m[i] = beta1 * m[i] + (1 - beta1) * gradient;
        v[i] = beta2 * v[i] + (1 - beta2) * gradient * gradient;
        return step_of(i);
    }
};

}  // namespace

void CpuDevice::update(const OptimizerSettings& o, int step, const Array& weights, const Array& gradients, std::span<const Array> states) {
    const Run run(o, step, weights, gradients, states);
    switch (o.kind) {
        case Optimizer::sgd:
            return run.sgd();
        case Optimizer::momentum:
            return run.momentum();
        case Optimizer::adam:
            return run.adam(run.decay, 0);
        case Optimizer::adamw:
            return run.adam(0, run.decay);
        case Optimizer::lamb:
            return run.lamb();
    }
}

}  // namespace sextant
