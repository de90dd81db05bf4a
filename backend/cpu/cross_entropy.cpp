// Cross entropy of each row: the log of the sum of exponentials of its logits, less the logit of its label.
#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::cpu {
namespace {

// Where the logits of a row lie: side by side; or one below the other, when each column of a sample's logits is a distribution over its
// positions (the spans of question answering).
struct Rows {
    std::int64_t classes, pitch;
    bool side_by_side;

    Rows(const CrossEntropy& e, const OperatorCall& c)
        : classes(c.valid_rows), pitch(c.input(0).shape.back()), side_by_side(pitch == e.classes), whole_(e.classes) {}
    [[nodiscard]] std::int64_t begin(std::int64_t row) const {
        return side_by_side ? row * pitch : row / pitch * whole_ * pitch + row % pitch;
    }
    [[nodiscard]] std::int64_t step() const { return side_by_side ? 1 : pitch; }
    void copy(const float* row, float* to) const {
        if (side_by_side)
            std::copy_n(row, classes, to);
        else
            for (std::int64_t j = 0; j < classes; ++j) to[j] = row[j * pitch];
    }

private:
    std::int64_t whole_;
};

}  // namespace

void forward(Engine& engine, const CrossEntropy& e, const OperatorCall& c) {
    const Rows rows(e, c);
    const float* x = c.inputs[0].reals();
    float* exponentials = engine.scratch.reals(rows.classes);
    for (std::int64_t r = 0; r < e.rows; ++r) {
        const float* row = x + rows.begin(r);
        float* statistics = c.outputs[1].reals() + 3 * r;
        rows.copy(row, exponentials);
        const float largest = largest_of(exponentials, rows.classes);
        for (std::int64_t j = 0; j < rows.classes; ++j) exponentials[j] -= largest;
        engine.apply(Curve::exp, exponentials, exponentials, rows.classes);
        const float sum = sum_of(exponentials, rows.classes);
        const std::int64_t label = c.inputs[1].indices()[r] - c.first_row;
        statistics[0] = largest;
        statistics[1] = sum;
        statistics[2] = label >= 0 && label < rows.classes ? row[label * rows.step()] : 0;
    }
    merge_losses(c.outputs[1].reals(), 1, e.rows, c.outputs[0].reals(), c.outputs[1].reals());
}

void backward(Engine& engine, const CrossEntropy& e, const OperatorCall& c) {
    const Rows rows(e, c);
    const float* x = c.inputs[0].reals();
    float *dx = c.input_gradients[0].reals(), *probabilities = engine.scratch.reals(rows.classes);
    std::fill_n(dx, c.input_gradients[0].elements, 0.0F);
    for (std::int64_t r = 0; r < e.rows; ++r) {
        const float* row = x + rows.begin(r);
        float* gradient = dx + rows.begin(r);
        const float *statistics = c.outputs[1].reals() + 3 * r, dy = c.output_gradients[0].reals()[r];
        rows.copy(row, probabilities);
        for (std::int64_t j = 0; j < rows.classes; ++j) probabilities[j] -= statistics[0];
        engine.apply(Curve::exp, probabilities, probabilities, rows.classes);
        const float factor = dy / statistics[1];
        if (rows.side_by_side)
            for (std::int64_t j = 0; j < rows.classes; ++j) gradient[j] = factor * probabilities[j];
        else
            for (std::int64_t j = 0; j < rows.classes; ++j) gradient[j * rows.step()] = factor * probabilities[j];
        const std::int64_t label = c.inputs[1].indices()[r] - c.first_row;
        if (label >= 0 && label < rows.classes) gradient[label * rows.step()] -= dy;
    }
}

void merge_losses(const float* parts, int ranks, std::int64_t rows, float* losses, float* statistics) {
    for (std::int64_t r = 0; r < rows; ++r) {
        float largest = parts[3 * r], sum = 0, target = 0;
        for (int p = 1; p < ranks; ++p) largest = std::max(largest, parts[3 * (p * rows + r)]);
        for (int p = 0; p < ranks; ++p) {
            const float* part = parts + 3 * (p * rows + r);
            sum += part[1] * std::exp(part[0] - largest);
            target += part[2];
        }
        losses[r] = largest + std::log(sum) - target;
        statistics[3 * r] = largest;
        statistics[3 * r + 1] = sum;
        statistics[3 * r + 2] = target;
    }
}

}  // namespace sextant::cpu
