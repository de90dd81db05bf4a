// The optimizers; see backend/cpu/optimizer.cpp.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "model/base/failure.hpp"

namespace sextant::kernels {

struct Sgd : ToElement<float> {  // the weights
    const float* g;
    float rate, decay;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return to[i] - rate * (g[i] + decay * to[i]); }
};

struct WeightAndMomentum {
    struct Made {
        float w, m;
    };
    float *w, *m;
    SEXTANT_KERNEL void put(std::int64_t i, const Made& made) const {
        w[i] = made.w;
        m[i] = made.m;
    }
};

struct Momentum : WeightAndMomentum {
    const float* g;
    float rate, decay, keep;
    SEXTANT_KERNEL Made operator()(std::int64_t i) const {
        const float moved = keep * m[i] + g[i] + decay * w[i];
        return {w[i] - rate * moved, moved};
    }
};

struct Lion : WeightAndMomentum {
    const float* g;
    float rate, decay, beta1, beta2;
    SEXTANT_KERNEL Made operator()(std::int64_t i) const {
        const float way = beta1 * m[i] + (1 - beta1) * g[i], sign = way > 0 ? 1.0F : way < 0 ? -1.0F : way;
        return {w[i] - rate * (sign + decay * w[i]), beta2 * m[i] + (1 - beta2) * g[i]};
    }
};

// The moments of Adam, and the step that they come to.
struct Moments {
    struct Made {
        float m, v;
    };
    float *m, *v;
    float beta1, beta2, epsilon, correction1, correction2;
    [[nodiscard]] SEXTANT_KERNEL Made taken(std::int64_t i, float gradient) const {
        return {beta1 * m[i] + (1 - beta1) * gradient, beta2 * v[i] + (1 - beta2) * gradient * gradient};
    }
    SEXTANT_KERNEL void put(std::int64_t i, const Made& made) const {
        m[i] = made.m;
        v[i] = made.v;
    }
    [[nodiscard]] SEXTANT_KERNEL float step(const Made& x) const { return x.m * correction1 / (sqrtf(x.v * correction2) + epsilon); }
};

// `coupled`: the decay goes through the moments (Adam), `apart`: it does not (AdamW).
struct Adam {
    struct Made {
        float w;
        Moments::Made moments;
    };
    float* w;
    const float* g;
    Moments moments;
    float rate, coupled, apart;
    SEXTANT_KERNEL Made operator()(std::int64_t i) const {
        const Moments::Made taken = moments.taken(i, g[i] + coupled * w[i]);
        return {w[i] - rate * (moments.step(taken) + apart * w[i]), taken};
    }
    SEXTANT_KERNEL void put(std::int64_t i, const Made& made) const {
        w[i] = made.w;
        moments.put(i, made.moments);
    }
};

// LAMB: the moments, then the norms of the tensor and of its step, then the step in their proportion.
struct LambMoments {
    const float* g;
    Moments moments;
    SEXTANT_KERNEL Moments::Made operator()(std::int64_t i) const { return moments.taken(i, g[i]); }
    SEXTANT_KERNEL void put(std::int64_t i, const Moments::Made& made) const { moments.put(i, made); }
};

struct LambStep {
    float* w;
    Moments moments;
    float decay;
    [[nodiscard]] SEXTANT_KERNEL float operator()(std::int64_t i) const {
        return moments.step({moments.m[i], moments.v[i]}) + decay * w[i];
    }
};

struct Identity {
    const float* x;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return x[i]; }
};

// A chunk's sum of the squares of value(i).
template <class Value>
struct Squares {
    Value value;
    std::int64_t count, chunk;
    double* sums;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t at) const {
        const std::int64_t end = (at + 1) * chunk < count ? (at + 1) * chunk : count;
        double sum = 0;
        for (std::int64_t i = at * chunk + lanes.first(); i < end; i += lanes.step())
            sum += static_cast<double>(value(i)) * static_cast<double>(value(i));
        sum = lanes.sum(sum);
        if (lanes.first() == 0) sums[at] = sum;
    }
};

constexpr std::int64_t squares_chunk = 16384;  // elements that one block of threads sums
inline std::int64_t chunks_of(std::int64_t count) { return ceil_div(count, squares_chunk); }

// Fills `sums` with the sums of the squares of value(i), i < count, chunk by chunk.
template <class Machine, class Value>
void sum_squares(Machine& m, const Value& value, std::int64_t count, double* sums) {
    m.rows(chunks_of(count), squares_chunk, Squares<Value>{value, count, squares_chunk, sums});
}
// Room for so many doubles.
template <class Machine>
Array doubles(Machine& m, std::int64_t count) {
    return m.scratch(2 * count);
}

// Adds the sums of all chunks to the two of the whole tensor: of its weights, and of their steps.
struct AddSquares {
    const double *of_weights, *of_steps;
    std::int64_t chunks;
    float* squares;
    SEXTANT_KERNEL void operator()(std::int64_t) const {
        double weights = 0, steps = 0;
        for (std::int64_t i = 0; i < chunks; ++i) {
            weights += of_weights[i];
            steps += of_steps[i];
        }
        squares[0] += static_cast<float>(weights);
        squares[1] += static_cast<float>(steps);
    }
};

struct LambUpdate {
    LambStep step;
    const float* squares;
    float rate;
    SEXTANT_KERNEL float operator()(std::int64_t i) const {
        const float trust = squares[0] > 0 && squares[1] > 0 ? sqrtf(squares[0] / squares[1]) : 1;
        return step.w[i] - rate * trust * step(i);
    }
    SEXTANT_KERNEL void put(std::int64_t i, float value) const { step.w[i] = value; }
};

inline Moments moments_of(const OptimizerSettings& o, int step, std::span<const Array> states) {
    return {states[0].reals(),
            states[1].reals(),
            static_cast<float>(o.beta1),
            static_cast<float>(o.beta2),
            static_cast<float>(o.epsilon),
            static_cast<float>(1 / (1 - std::pow(o.beta1, step))),
            static_cast<float>(1 / (1 - std::pow(o.beta2, step)))};
}

inline LambStep lamb_step(const OptimizerSettings& o, int step, const Array& weights, std::span<const Array> states) {
    return {weights.reals(), moments_of(o, step, states), static_cast<float>(o.weight_decay)};
}

// These two as ComputeDevice has them.
template <class Machine>
void take_moments(Machine& m, const OptimizerSettings& o, int step, const Array& weights, const Array& gradients,
                  std::span<const Array> states, const Array& squares) {
    const std::int64_t count = weights.elements;
    m.elements(count, LambMoments{gradients.reals(), moments_of(o, step, states)});
    if (!squares) return;
    const Array of_weights = doubles(m, chunks_of(count)), of_steps = doubles(m, chunks_of(count));
    sum_squares(m, Identity{weights.reals()}, count, values_in<double>(of_weights));
    sum_squares(m, lamb_step(o, step, weights, states), count, values_in<double>(of_steps));
    m.elements(1, AddSquares{values_in<double>(of_weights), values_in<double>(of_steps), chunks_of(count), squares.reals()});
}
template <class Machine>
void step_in_proportion(Machine& m, const OptimizerSettings& o, int step, const Array& weights, std::span<const Array> states,
                        const Array& squares) {
    m.elements(weights.elements, LambUpdate{lamb_step(o, step, weights, states), squares.reals(), static_cast<float>(o.learning_rate)});
}

template <class Machine>
void update(Machine& machine, const OptimizerSettings& o, int step, const Array& weights, const Array& gradients,
            std::span<const Array> states) {
    float* w = weights.reals();
    const float* g = gradients.reals();
    const std::int64_t count = weights.elements;
    const auto rate = static_cast<float>(o.learning_rate), decay = static_cast<float>(o.weight_decay);
    switch (o.kind) {
        case Optimizer::sgd: return machine.elements(count, Sgd{{w}, g, rate, decay});
        case Optimizer::momentum:
            return machine.elements(count, Momentum{{w, states[0].reals()}, g, rate, decay, static_cast<float>(o.momentum)});
        case Optimizer::adam: return machine.elements(count, Adam{w, g, moments_of(o, step, states), rate, decay, 0});
        case Optimizer::adamw: return machine.elements(count, Adam{w, g, moments_of(o, step, states), rate, 0, decay});
        case Optimizer::lion:
            return machine.elements(count,
                                    Lion{{w, states[0].reals()}, g, rate, decay, static_cast<float>(o.beta1), static_cast<float>(o.beta2)});
        case Optimizer::lamb: broken_invariant("LAMB takes its step in two parts");
        case Optimizer::adamw_8bit:
        case Optimizer::adafactor:
        case Optimizer::muon: broken_invariant("unsupported() refuses it");
    }
}

}  // namespace sextant::kernels
