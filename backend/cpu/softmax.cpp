// Softmax over the rows of a matrix.
#include "backend/cpu/operators.hpp"

#include <algorithm>

namespace sextant::cpu {

void forward(Engine& engine, const Softmax& s, const OperatorCall& c) {
    const float* x = c.inputs[0].reals();
    float* y = c.outputs[0].reals();
    for (std::int64_t r = 0; r < s.rows; ++r) {
        const float* row = x + r * s.width;
        const float largest = *std::max_element(row, row + s.width);
        for (std::int64_t i = 0; i < s.width; ++i) y[r * s.width + i] = row[i] - largest;
    }
    engine.apply(Curve::exp, y, y, s.rows * s.width);
    for (std::int64_t r = 0; r < s.rows; ++r) {
        float* row = y + r * s.width;
        float sum = 0;
        for (std::int64_t i = 0; i < s.width; ++i) sum += row[i];
        for (std::int64_t i = 0; i < s.width; ++i) row[i] /= sum;
    }
}

void backward(Engine&, const Softmax& s, const OperatorCall& c) {
    const float *y = c.outputs[0].reals(), *dy = c.output_gradients[0].reals();
    float* dx = c.input_gradients[0].reals();
    for (std::int64_t r = 0; r < s.rows; ++r) {
        const std::int64_t at = r * s.width;
        float sum = 0;
        for (std::int64_t i = at; i < at + s.width; ++i) sum += y[i] * dy[i];
        for (std::int64_t i = at; i < at + s.width; ++i) dx[i] = y[i] * (dy[i] - sum);
    }
}

}  // namespace sextant::cpu
