// Functions of one number, and the gradients that they hand back: of what goes in, from `d` of what comes out. Where a function is cut off
// that is zero, and not zero times `d`, which may be infinite. Kernels use all of them; the CPU engine only those that are not
// transcendental, as it has oneDNN for these.
#pragma once

#include "backend/kernels/lanes.hpp"
#include "model/workload/operator.hpp"

namespace sextant::kernels {

SEXTANT_KERNEL inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

SEXTANT_KERNEL inline float curve(PointwiseKind kind, float x) {
    constexpr float root_half = 0.70710678118654752F;
    switch (kind) {
        case PointwiseKind::gelu: return 0.5F * x * (1 + erff(x * root_half));
        case PointwiseKind::silu: return x * sigmoid(x);
        case PointwiseKind::sigmoid: return sigmoid(x);
        case PointwiseKind::tanh: return tanhf(x);
        case PointwiseKind::relu: return x > 0 ? x : 0;
        case PointwiseKind::relu6: return x > 6 ? 6 : x > 0 ? x : 0;
        case PointwiseKind::squared_relu: return x > 0 ? x * x : 0;
        default: return x;
    }
}

// GPT-OSS's gate of two numbers: f sigmoid(1.702 f) (s + 1) with f = min(first, 7), s = second between -7 and 7; and its gradients.
struct ClampedGate {
    static constexpr float limit = 7, steepness = 1.702F;
    float first, second, opened;  // opened: sigmoid(scaled(first))

    SEXTANT_KERNEL ClampedGate(float f, float s, float o) : first(f), second(s), opened(o) {}
    SEXTANT_KERNEL ClampedGate(float f, float s) : ClampedGate(f, s, sigmoid(scaled(f))) {}

    [[nodiscard]] static SEXTANT_KERNEL float scaled(float f) { return steepness * (f < limit ? f : limit); }
    [[nodiscard]] SEXTANT_KERNEL float factor() const {
        const float least = second > -limit ? second : -limit;
        return (least < limit ? least : limit) + 1;
    }
    [[nodiscard]] SEXTANT_KERNEL float passed() const { return first < limit ? first : limit; }
    [[nodiscard]] SEXTANT_KERNEL float value() const { return passed() * opened * factor(); }
    [[nodiscard]] SEXTANT_KERNEL float back_to_first(float d) const {
        const float back = d * (factor() * opened * (1 + steepness * passed() * (1 - opened)));
        return first < limit ? back : 0;
    }
    [[nodiscard]] SEXTANT_KERNEL float back_to_second(float d) const {
        const float back = d * (passed() * opened);
        return fabsf(second) < limit ? back : 0;
    }
};

// Whether back_through() takes the function's output; else it takes its input.
constexpr bool gradient_needs_output(PointwiseKind kind) {
    return kind == PointwiseKind::sigmoid || kind == PointwiseKind::tanh || kind == PointwiseKind::relu || kind == PointwiseKind::relu6;
}

// The gradient of what goes into curve(). `kept`: its output or input, as gradient_needs_output() says.
SEXTANT_KERNEL inline float back_through(PointwiseKind kind, float kept, float d) {
    constexpr float root_half = 0.70710678118654752F, density = 0.39894228040143268F;  // 1 / sqrt(2), 1 / sqrt(2 pi)
    switch (kind) {
        case PointwiseKind::gelu: return d * (0.5F * (1 + erff(kept * root_half)) + kept * density * expf(-0.5F * kept * kept));
        case PointwiseKind::silu: {
            const float s = sigmoid(kept);
            return d * (s * (1 + kept * (1 - s)));
        }
        case PointwiseKind::sigmoid: return d * (kept * (1 - kept));
        case PointwiseKind::tanh: return d * (1 - kept * kept);
        case PointwiseKind::relu: return kept > 0 ? d : 0;
        case PointwiseKind::relu6: return kept > 0 && kept < 6 ? d : 0;
        case PointwiseKind::squared_relu: {
            const float back = 2 * kept * d;
            return kept > 0 ? back : 0;
        }
        default: return d;
    }
}

}  // namespace sextant::kernels
