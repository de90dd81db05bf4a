// Functions of single elements.
#include "backend/cpu/operators.hpp"
#include "backend/kernels/alibi.hpp"
#include "backend/kernels/curves.hpp"

#include <algorithm>
#include <optional>

namespace sextant::cpu {
namespace {

std::optional<Curve> curve_of(PointwiseKind kind) {
    switch (kind) {
        case PointwiseKind::gelu: return Curve::gelu;
        case PointwiseKind::silu: return Curve::silu;
        case PointwiseKind::sigmoid: return Curve::sigmoid;
        case PointwiseKind::tanh: return Curve::tanh;
        default: return std::nullopt;
    }
}

template <class Function>
void map(const OperatorCall& c, const Function& f) {
    const float* x = c.inputs[0].reals();
    float* y = c.outputs[0].reals();
    for (std::int64_t i = 0; i < c.outputs[0].elements; ++i) y[i] = f(x[i]);
}

// ReLU and its kin. The kind is known to the compiler, so that the loop becomes vector instructions.
template <PointwiseKind kind>
void forward_curve(const OperatorCall& c) {
    map(c, [](float x) { return kernels::curve(kind, x); });
}
template <PointwiseKind kind>
void backward_curve(const OperatorCall& c) {
    const float* kept = (kernels::gradient_needs_output(kind) ? c.outputs : c.inputs)[0].reals();
    const float* dy = c.output_gradients[0].reals();
    float* dx = c.input_gradients[0].reals();
    for (std::int64_t i = 0; i < c.output_gradients[0].elements; ++i) dx[i] = kernels::back_through(kind, kept[i], dy[i]);
}

void copy_gradient(const OperatorCall& c, float scale = 1) {
    const float* dy = c.output_gradients[0].reals();
    float* dx = c.input_gradients[0].reals();
    for (std::int64_t i = 0; i < c.output_gradients[0].elements; ++i) dx[i] = scale * dy[i];
}

// The first half of each row, side by side.
void copy_first_halves(const float* x, std::int64_t rows, std::int64_t width, float* to) {
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(x + 2 * r * width, width, to + r * width);
}

// The columns of a row are two halves: out = curve(first) second.
void forward_gate(Engine& engine, Curve curve, const OperatorCall& c) {
    const std::int64_t width = c.output(0).shape.back();
    for_some_rows(c.outputs[0].elements / width, width, [&](std::int64_t from, std::int64_t rows) {
        const float* __restrict x = c.inputs[0].reals() + 2 * from * width;
        float* __restrict y = c.outputs[0].reals() + from * width;
        copy_first_halves(x, rows, width, y);
        engine.apply(curve, y, y, rows * width);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t i = 0; i < width; ++i) y[r * width + i] *= x[(2 * r + 1) * width + i];
    });
}

// What the backward of a gate makes of some rows: the curve of their first halves and its slope there.
struct GateRows {
    GateRows(Engine& e, Curve c, std::int64_t width) : engine(e), curve(c), first(room(width)), value(room(width)), slope(room(width)) {}

    void fill(const float* x, std::int64_t rows, std::int64_t width) {
        const std::int64_t count = rows * width;
        copy_first_halves(x, rows, width, first);
        if (curve == Curve::silu) return open(count);
        engine.apply(curve, first, value, count);
        std::fill_n(slope, count, 1.0F);
        engine.differentiate(curve, slope_needs_output(curve) ? value : first, slope, slope, count);
    }

    Engine& engine;
    Curve curve;
    float* __restrict first, * __restrict value, * __restrict slope;

private:
    [[nodiscard]] float* room(std::int64_t width) const { return engine.scratch.reals(rows_at_once(width) * width); }
    // Of SiLU both come from one function, f(x) = x s(x) and f'(x) = s (1 + x - f).
    void open(std::int64_t count) {
        engine.apply(Curve::sigmoid, first, slope, count);
        for (std::int64_t i = 0; i < count; ++i) {
            value[i] = first[i] * slope[i];
            slope[i] *= 1 + first[i] - value[i];
        }
    }
};

void backward_gate(Engine& engine, Curve curve, const OperatorCall& c) {
    const std::int64_t width = c.output(0).shape.back();
    GateRows gate(engine, curve, width);
    for_some_rows(c.output_gradients[0].elements / width, width, [&](std::int64_t from, std::int64_t rows) {
        const float* __restrict x = c.inputs[0].reals() + 2 * from * width;
        const float* __restrict dy = c.output_gradients[0].reals() + from * width;
        float* __restrict dx = c.input_gradients[0].reals() + 2 * from * width;
        gate.fill(x, rows, width);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t i = 0; i < width; ++i) {
                const std::int64_t at = r * width + i, first = at + r * width, second = first + width;
                dx[first] = dy[at] * x[second] * gate.slope[at];
                dx[second] = dy[at] * gate.value[at];
            }
    });
}

// work(first element of the first half, of the second, of the result, ClampedGate), gate by gate.
template <class Work>
void for_each_clamped_gate(Engine& engine, const OperatorCall& c, std::int64_t count, const Work& work) {
    const std::int64_t width = c.output(0).shape.back();
    float* __restrict opened = engine.scratch.reals(rows_at_once(width) * width);
    for_some_rows(count / width, width, [&](std::int64_t from, std::int64_t rows) {
        const float* __restrict x = c.inputs[0].reals() + 2 * from * width;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t i = 0; i < width; ++i) opened[r * width + i] = kernels::ClampedGate::scaled(x[2 * r * width + i]);
        engine.apply(Curve::sigmoid, opened, opened, rows * width);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t i = 0; i < width; ++i) {
                const std::int64_t at = r * width + i, first = at + r * width, second = first + width;
                work(2 * from * width + first, 2 * from * width + second, from * width + at,
                     kernels::ClampedGate{x[first], x[second], opened[at]});
            }
    });
}

void forward_clamped_gate(Engine& engine, const OperatorCall& c) {
    float* __restrict y = c.outputs[0].reals();
    for_each_clamped_gate(engine, c, c.outputs[0].elements,
                          [y](std::int64_t, std::int64_t, std::int64_t at, const kernels::ClampedGate& gate) { y[at] = gate.value(); });
}

void backward_clamped_gate(Engine& engine, const OperatorCall& c) {
    const float* __restrict dy = c.output_gradients[0].reals();
    float* __restrict dx = c.input_gradients[0].reals();
    for_each_clamped_gate(engine, c, c.output_gradients[0].elements,
                          [dy, dx](std::int64_t first, std::int64_t second, std::int64_t at, const kernels::ClampedGate& gate) {
                              dx[first] = gate.back_to_first(dy[at]);
                              dx[second] = gate.back_to_second(dy[at]);
                          });
}

// Times a factor for each channel: learned, of the sample (an image), or of the row.
void forward_multiply(const OperatorCall& c) {
    const Array& factors = c.inputs.size() == 1 ? c.weights[0] : c.inputs[1];
    const std::int64_t channels = c.output(0).shape[1], with_one = c.outputs[0].elements / factors.elements * channels;
    const float *x = c.inputs[0].reals(), *factor = factors.reals();
    float* y = c.outputs[0].reals();
    for (std::int64_t i = 0; i < c.outputs[0].elements; i += channels) {
        const float* f = factor + i / with_one * channels;
        for (std::int64_t j = 0; j < channels; ++j) y[i + j] = x[i + j] * f[j];
    }
}

void backward_multiply(const OperatorCall& c) {
    const bool learned = c.inputs.size() == 1;
    const Array& factors = learned ? c.weights[0] : c.inputs[1];
    const std::int64_t channels = c.output(0).shape[1], count = c.output_gradients[0].elements;
    const std::int64_t with_one = count / factors.elements * channels;
    const float *x = c.inputs[0].reals(), *factor = factors.reals(), *dy = c.output_gradients[0].reals();
    float *dx = c.input_gradients[0].reals(), *d_factor = learned ? c.weight_gradients[0].reals() : c.input_gradients[1].reals();
    if (!learned && d_factor != nullptr) std::fill_n(d_factor, factors.elements, 0.0F);
    for (std::int64_t i = 0; i < count; i += channels) {
        const std::int64_t at = i / with_one * channels;
        for (std::int64_t j = 0; dx != nullptr && j < channels; ++j) dx[i + j] = dy[i + j] * factor[at + j];
        for (std::int64_t j = 0; d_factor != nullptr && j < channels; ++j) d_factor[at + j] += dy[i + j] * x[i + j];
    }
}

// Of scores [samples x heads, queries, keys].
void add_alibi(const OperatorCall& c) {
    const std::int64_t queries = c.output(0).shape[1], keys = c.output(0).shape[2], heads = c.output(0).shape[0] / c.samples;
    const kernels::AlibiBias bias = kernels::alibi_bias(c.place, heads, queries * keys);
    for (std::int64_t row = 0; row < c.output(0).shape[0] * queries; ++row) {
        const float slope = bias.slope(row / queries % heads);
        const std::int64_t beside = key_beside(row % queries, queries, keys, c.place.context);
        fall_with_distance(c.outputs[0].reals() + row * keys, keys, slope, beside);
    }
}

// Scores of keys that the query does not see fall out of the softmax.
template <class Hide>
void hide_unseen(const Pointwise& p, const OperatorCall& c, const Hide& hide) {
    const Tensor& scores = c.output(0);
    const std::int64_t queries = scores.shape[1], keys = scores.shape[2];
    for (std::int64_t row = 0; row < scores.shape[0] * queries; ++row) {
        const KeyRange r = visible_keys(row % queries, queries, keys, p.causal, p.window, c.place.context);
        for (std::int64_t j = 0; j < r.begin; ++j) hide(row * keys + j);
        for (std::int64_t j = r.end; j < keys; ++j) hide(row * keys + j);
    }
}

}  // namespace

void forward(Engine& engine, const Pointwise& p, const OperatorCall& c) {
    if (c.routing != nullptr) return forward_routed(engine, p, c);
    float* y = c.outputs[0].reals();
    if (const auto curve = curve_of(p.kind)) return engine.apply(*curve, c.inputs[0].reals(), y, c.outputs[0].elements);
    switch (p.kind) {
        case PointwiseKind::relu: return forward_curve<PointwiseKind::relu>(c);
        case PointwiseKind::relu6: return forward_curve<PointwiseKind::relu6>(c);
        case PointwiseKind::squared_relu: return forward_curve<PointwiseKind::squared_relu>(c);
        case PointwiseKind::scale: return map(c, [by = static_cast<float>(p.constant)](float x) { return by * x; });
        case PointwiseKind::cast: return map(c, [](float x) { return x; });
        case PointwiseKind::mask:
            if (p.shifted_windows > 0) return mask_windows(p, c, c.inputs[0], c.outputs[0], -1e30F);
            map(c, [](float x) { return x; });
            if (p.alibi) add_alibi(c);
            return hide_unseen(p, c, [y](std::int64_t i) { y[i] = -1e30F; });
        case PointwiseKind::gate: return forward_gate(engine, *curve_of(p.gate), c);
        case PointwiseKind::clamped_gate: return forward_clamped_gate(engine, c);
        case PointwiseKind::multiply: return forward_multiply(c);
        case PointwiseKind::dropout: return forward_dropout(p, c);
        case PointwiseKind::rotary: return forward_rotary(p, c);
        case PointwiseKind::repeat:
        case PointwiseKind::interpolate: return forward_resize(p, c);
        case PointwiseKind::bias: return are_scores(c.output(0)) ? forward_distances(c) : forward_rows(c);
        case PointwiseKind::copy: return p.order.empty() ? forward_rows(c) : forward_rearrangement(p, c);
        default: return forward_rows(c);
    }
}

void backward(Engine& engine, const Pointwise& p, const OperatorCall& c) {
    if (c.routing != nullptr) return backward_routed(engine, p, c);
    if (const auto curve = curve_of(p.kind)) {
        return engine.differentiate(*curve, (slope_needs_output(*curve) ? c.outputs : c.inputs)[0].reals(), c.output_gradients[0].reals(),
                                    c.input_gradients[0].reals(), c.output_gradients[0].elements);
    }
    switch (p.kind) {
        case PointwiseKind::relu: return backward_curve<PointwiseKind::relu>(c);
        case PointwiseKind::relu6: return backward_curve<PointwiseKind::relu6>(c);
        case PointwiseKind::squared_relu: return backward_curve<PointwiseKind::squared_relu>(c);
        case PointwiseKind::scale: return copy_gradient(c, static_cast<float>(p.constant));
        case PointwiseKind::mask:
            if (p.shifted_windows > 0) return mask_windows(p, c, c.output_gradients[0], c.input_gradients[0], 0);
            copy_gradient(c);
            return hide_unseen(p, c, [dx = c.input_gradients[0].reals()](std::int64_t i) { dx[i] = 0; });
        case PointwiseKind::gate: return backward_gate(engine, *curve_of(p.gate), c);
        case PointwiseKind::clamped_gate: return backward_clamped_gate(engine, c);
        case PointwiseKind::multiply: return backward_multiply(c);
        case PointwiseKind::dropout: return backward_dropout(p, c);
        case PointwiseKind::rotary: return backward_rotary(p, c);
        case PointwiseKind::repeat:
        case PointwiseKind::interpolate: return backward_resize(p, c);
        case PointwiseKind::bias: return are_scores(c.output(0)) ? backward_distances(c) : backward_rows(c);
        case PointwiseKind::copy: return p.order.empty() ? backward_rows(c) : backward_rearrangement(p, c);
        default: return backward_rows(c);
    }
}

// Elements of one sample, from `element` of it on. Without branches, which nobody could foresee; backward likewise.
void drop_some(RandomKey key, std::int64_t element, std::int64_t count, float fraction, const float* __restrict x, float* __restrict y,
               std::uint8_t* __restrict mask) {
    const float keep = 1 / (1 - fraction);
    const std::int32_t dropped = RandomKey::part(fraction);
    for (std::int64_t i = 0; i < count; ++i) {
        const bool stays = key.keeps(static_cast<std::uint64_t>(element + i), dropped);
        const float scaled = keep * x[i];
        mask[i] = static_cast<std::uint8_t>(stays);
        y[i] = stays ? scaled : 0;
    }
}

void forward_dropout(const Pointwise& p, const OperatorCall& c) {
    const std::int64_t count = c.outputs[0].elements;
    // Keyed by sample and element of the serial tensor: who holds which part makes no difference.
    const Place& place = c.place;
    for (std::int64_t i = 0; i < count;) {
        const std::int64_t end = std::min(count, i + place.together(i));
        std::int64_t sample = place.of(i) / place.per_sample, element = place.of(i) % place.per_sample;
        while (i < end) {
            const std::int64_t some = std::min(end - i, place.per_sample - element);
            drop_some(c.dropout.with(static_cast<std::uint64_t>(c.first_sample + sample)), element, some, static_cast<float>(p.constant),
                      c.inputs[0].reals() + i, c.outputs[0].reals() + i, c.outputs[1].mask() + i);
            i += some;
            ++sample;
            element = 0;
        }
    }
}

void backward_dropout(const Pointwise& p, const OperatorCall& c) {
    const float keep = 1 / (1 - static_cast<float>(p.constant));
    const std::uint8_t* __restrict mask = c.outputs[1].mask();
    const float* __restrict dy = c.output_gradients[0].reals();
    float* __restrict dx = c.input_gradients[0].reals();
    for (std::int64_t i = 0; i < c.output_gradients[0].elements; ++i) {
        const float scaled = keep * dy[i];
        dx[i] = mask[i] != 0 ? scaled : 0;
    }
}

}  // namespace sextant::cpu
