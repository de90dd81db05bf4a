// Layer and RMS norms: each row, or each of its equal parts, is brought to mean 0 and variance 1 (an RMS norm leaves the mean), then scaled
// and shifted by column. Where it is gated, x stands for the product of the input and SiLU of the gate.
#include "backend/cpu/normalization.hpp"
#include "backend/cpu/reductions.hpp"
#include "backend/kernels/norm_layout.hpp"

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace sextant::cpu {
namespace {

struct RowStatistics {
    float mean = 0, factor = 1;  // the reciprocal deviation
};

// The parts of all rows, and what the operator keeps of them: [mean, factor] x parts, of an RMS norm the factor alone.
struct Parts {
    std::int64_t rows, width, in_row, count;  // of each part: its elements
    bool centred;
    float* kept;

    Parts(const Normalization& n, const OperatorCall& c)
        : rows(n.rows),
          width(n.width),
          in_row(n.parts),
          count(n.width / n.parts),
          centred(n.kind == NormKind::layer),
          kept(c.outputs.size() > 1 ? c.outputs[1].reals() : nullptr) {}

    [[nodiscard]] RowStatistics measured(const float* x) const {
        const auto n = static_cast<double>(count);
        const auto mean = centred ? static_cast<float>(sum_of(x, count) / n) : 0.0F;
        const auto square = [x, mean](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); };
        const double squares = reduced(count, 0.0F, square, std::plus<>());
        return {mean, static_cast<float>(1 / std::sqrt(squares / n + kernels::norm_epsilon))};
    }
    void keep(std::int64_t part, const RowStatistics& s) const {
        if (kept == nullptr) return;
        if (centred) kept[part] = s.mean;
        kept[(centred ? rows * in_row : 0) + part] = s.factor;
    }
    [[nodiscard]] RowStatistics of(std::int64_t part, const float* x) const {
        if (kept == nullptr) return measured(x);
        return {centred ? kept[part] : 0, kept[(centred ? rows * in_row : 0) + part]};
    }
};

// What is normalized where a gate opens it, made of some rows at a time: a call of oneDNN for each would take longer than a row.
class GatedRows {
public:
    GatedRows(Engine& engine, const OperatorCall& c, std::int64_t width)
        : engine_(engine),
          c_(c),
          width_(width),
          open_(engine.scratch.reals(rows_at_once(width) * width)),
          product_(engine.scratch.reals(rows_at_once(width) * width)) {}

    const float* make(std::int64_t first, std::int64_t rows) {
        const float* x = c_.inputs[0].reals() + first * width_;
        engine_.apply(Curve::silu, c_.inputs[1].reals() + first * width_, open_, rows * width_);
        for (std::int64_t i = 0; i < rows * width_; ++i) product_[i] = x[i] * open_[i];
        return product_;
    }
    // Of the rows that were made last, with the gradient of the product, which the first input's takes the place of.
    void backward(std::int64_t first, std::int64_t rows, float* __restrict d) {
        const float *x = c_.inputs[0].reals() + first * width_, *gate = c_.inputs[1].reals() + first * width_;
        for (std::int64_t i = 0; i < rows * width_; ++i) {
            product_[i] = d[i] * x[i];
            d[i] *= open_[i];
        }
        if (c_.input_gradients[1])
            engine_.differentiate(Curve::silu, gate, product_, c_.input_gradients[1].reals() + first * width_, rows * width_);
    }

private:
    Engine& engine_;
    const OperatorCall& c_;
    std::int64_t width_;
    float* __restrict open_, * __restrict product_;
};

void add_weight_gradients(const RowStatistics& s, const float* __restrict x, const float* __restrict dy, std::int64_t count,
                          float* __restrict gain, float* __restrict shift) {
    for (std::int64_t i = 0; i < count; ++i) gain[i] += dy[i] * (x[i] - s.mean) * s.factor;
    if (shift == nullptr) return;
    for (std::int64_t i = 0; i < count; ++i) shift[i] += dy[i];
}

// With h = (x - mean) factor, of n elements: dx = factor (gain dy - mean(gain dy) - h mean(gain dy h)); an RMS norm lacks the second term.
void make_input_gradient(const Parts& parts, const RowStatistics& s, const float* __restrict x, const float* __restrict dy,
                         const float* __restrict gain, float* __restrict dx) {
    const auto n = static_cast<float>(parts.count);
    const float mean_dy = parts.centred ? dot_of(gain, dy, parts.count) / n : 0;
    const auto term = [=](std::int64_t i) { return gain[i] * dy[i] * (x[i] - s.mean); };
    const float mean_dyh = reduced(parts.count, 0.0F, term, std::plus<>()) * s.factor / n;
    const float along = -s.factor * s.factor * mean_dyh, start = -s.factor * mean_dy - along * s.mean;
    for (std::int64_t i = 0; i < parts.count; ++i) dx[i] = s.factor * gain[i] * dy[i] + along * x[i] + start;
}

}  // namespace

void forward_row_norm(Engine& engine, const Normalization& n, const OperatorCall& c) {
    const Parts parts(n, c);
    std::optional<GatedRows> gated;
    if (n.gated) gated.emplace(engine, c, parts.width);
    const float* gains = c.weights[0].reals();
    const std::vector<float> none(parts.width);
    const float* shifts = c.weights.size() > 1 ? c.weights[1].reals() : none.data();
    for_some_rows(parts.rows, parts.width, [&](std::int64_t first_row, std::int64_t rows) {
        const float* from = gated ? gated->make(first_row, rows) : c.inputs[0].reals() + first_row * parts.width;
        float* to = c.outputs[0].reals() + first_row * parts.width;
        for (std::int64_t p = 0; p < rows * parts.in_row; ++p, from += parts.count, to += parts.count) {
            const RowStatistics s = parts.measured(from);
            parts.keep(first_row * parts.in_row + p, s);
            const std::int64_t column = p % parts.in_row * parts.count;
            const float* __restrict x = from, * __restrict gain = gains + column, * __restrict shift = shifts + column;
            float* __restrict y = to;
            for (std::int64_t i = 0; i < parts.count; ++i) y[i] = (x[i] - s.mean) * (s.factor * gain[i]) + shift[i];
        }
    });
}

void backward_row_norm(Engine& engine, const Normalization& n, const OperatorCall& c) {
    const Parts parts(n, c);
    std::optional<GatedRows> gated;
    if (n.gated) gated.emplace(engine, c, parts.width);
    float* gain_gradient = c.weight_gradients[0].reals();
    float* shift_gradient = c.weights.size() > 1 ? c.weight_gradients[1].reals() : nullptr;
    for_some_rows(parts.rows, parts.width, [&](std::int64_t first_row, std::int64_t rows) {
        const std::int64_t first = first_row * parts.width;
        const float* x = gated ? gated->make(first_row, rows) : c.inputs[0].reals() + first;
        const float* dy = c.output_gradients[0].reals() + first;
        float* dx = c.input_gradients[0] ? c.input_gradients[0].reals() + first : nullptr;
        for (std::int64_t p = 0; p < rows * parts.in_row; ++p) {
            const std::int64_t at = p * parts.count, column = p % parts.in_row * parts.count;
            const RowStatistics s = parts.of(first_row * parts.in_row + p, x + at);
            add_weight_gradients(s, x + at, dy + at, parts.count, gain_gradient + column,
                                 shift_gradient != nullptr ? shift_gradient + column : nullptr);
            if (dx != nullptr) make_input_gradient(parts, s, x + at, dy + at, c.weights[0].reals() + column, dx + at);
        }
        if (dx != nullptr && gated) gated->backward(first_row, rows, dx);
    });
}

}  // namespace sextant::cpu
