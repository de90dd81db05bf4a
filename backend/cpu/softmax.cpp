// Softmax over the rows of a matrix.
#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"

namespace sextant::cpu {

void forward(Engine& engine, const Softmax& s, const OperatorCall& c) {
    const float* x = c.inputs[0].reals();
    float* y = c.outputs[0].reals();
    for (std::int64_t r = 0; r < s.rows; ++r) {
        const float* row = x + r * s.width;
        const float largest = largest_of(row, s.width);
        for (std::int64_t i = 0; i < s.width; ++i) y[r * s.width + i] = row[i] - largest;
    }
    engine.apply(Curve::exp, y, y, s.rows * s.width);
    for (std::int64_t r = 0; r < s.rows; ++r) {
        float* row = y + r * s.width;
        const float factor = 1 / sum_of(row, s.width);
        for (std::int64_t i = 0; i < s.width; ++i) row[i] *= factor;
    }
}

void backward(Engine&, const Softmax& s, const OperatorCall& c) {
    const float *y = c.outputs[0].reals(), *dy = c.output_gradients[0].reals();
    float* dx = c.input_gradients[0].reals();
    for (std::int64_t r = 0; r < s.rows; ++r) {
        const std::int64_t at = r * s.width;
        const float sum = dot_of(y + at, dy + at, s.width);
        for (std::int64_t i = at; i < at + s.width; ++i) dx[i] = y[i] * (dy[i] - sum);
    }
}

}  // namespace sextant::cpu
