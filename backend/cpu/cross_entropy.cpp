// Cross entropy of each row: the log of the sum of exponentials of its logits, less the logit of its label.
#include "backend/cpu/operators.hpp"
#include "backend/cpu/reductions.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::cpu {
namespace {

// Where the logits of a row lie: side by side, as those of a pixel; or one below the other, when each column of a sample's logits is a
// distribution over its positions (the spans of question answering).
struct Rows {
    std::int64_t classes, pitch;
    bool side_by_side;

    Rows(const CrossEntropy& e, const OperatorCall& c)
        : classes(c.valid_rows), pitch(columns_of(c.input(0))), side_by_side(pitch == e.classes), whole_(e.classes) {}
    [[nodiscard]] std::int64_t begin(std::int64_t row) const {
        return side_by_side ? row * pitch : row / pitch * whole_ * pitch + row % pitch;
    }
    [[nodiscard]] std::int64_t step() const { return side_by_side ? 1 : pitch; }
    template <class Value>
    void copy(const Value* row, float* to) const {
        if (side_by_side)
            std::copy_n(row, classes, to);
        else
            for (std::int64_t j = 0; j < classes; ++j) to[j] = row[j * pitch];
    }

private:
    std::int64_t whole_;
};

// To start a function for each narrow row would take longer than the row itself. Calls `with(row, its exponentials)` for each row,
// `less(row)` being what is taken off its logits before.
template <class Value, class Less, class With>
void for_each_row(Engine& engine, const CrossEntropy& e, const Rows& rows, const Value* logits, const Less& less, const With& with) {
    float* exponentials = engine.scratch.reals(std::min(rows_at_once(rows.classes), e.rows) * rows.classes);
    for_some_rows(e.rows, rows.classes, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t r = 0; r < count; ++r) {
            float* row = exponentials + r * rows.classes;
            rows.copy(logits + rows.begin(first + r), row);
            const float taken = less(first + r, row);
            for (std::int64_t j = 0; j < rows.classes; ++j) row[j] -= taken;
        }
        engine.apply(Curve::exp, exponentials, exponentials, count * rows.classes);
        for (std::int64_t r = 0; r < count; ++r) with(first + r, exponentials + r * rows.classes);
    });
}

template <class Value>
void forward_of(Engine& engine, const CrossEntropy& e, const OperatorCall& c) {
    const Rows rows(e, c);
    const auto* x = c.inputs[0].as<Value>();
    float* statistics = c.outputs[1].reals();
    const auto largest = [&](std::int64_t r, const float* row) { return statistics[3 * r] = largest_of(row, rows.classes); };
    for_each_row(engine, e, rows, x, largest, [&](std::int64_t r, const float* exponentials) {
        const std::int64_t label = c.inputs[1].indices()[r] - c.first_row;
        statistics[3 * r + 1] = sum_of(exponentials, rows.classes);
        statistics[3 * r + 2] = label >= 0 && label < rows.classes ? static_cast<float>(x[rows.begin(r) + label * rows.step()]) : 0;
    });
    merge_losses(statistics, 1, e.rows, c.outputs[0].reals(), statistics);
}

template <class Value>
void backward_of(Engine& engine, const CrossEntropy& e, const OperatorCall& c) {
    const Rows rows(e, c);
    const auto* x = c.inputs[0].as<Value>();
    const float *statistics = c.outputs[1].reals(), *dy = c.output_gradients[0].reals();
    auto* dx = c.input_gradients[0].as<Value>();
    std::fill_n(dx, c.input_gradients[0].elements, 0.0F);
    const auto largest = [&](std::int64_t r, const float*) { return statistics[3 * r]; };
    for_each_row(engine, e, rows, x, largest, [&](std::int64_t r, const float* exponentials) {
        Value* gradient = dx + rows.begin(r);
        const float factor = dy[r] / statistics[3 * r + 1];
        for (std::int64_t j = 0; j < rows.classes; ++j) gradient[j * rows.step()] = factor * exponentials[j];
        const std::int64_t label = c.inputs[1].indices()[r] - c.first_row;
        if (label >= 0 && label < rows.classes) gradient[label * rows.step()] = factor * exponentials[label] - dy[r];
    });
}

}  // namespace

void forward(Engine& engine, const CrossEntropy& e, const OperatorCall& c) {
    with_type(c.inputs[0].element, [&]<class Value>() { forward_of<Value>(engine, e, c); });
}
void backward(Engine& engine, const CrossEntropy& e, const OperatorCall& c) {
    with_type(c.inputs[0].element, [&]<class Value>() { backward_of<Value>(engine, e, c); });
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
