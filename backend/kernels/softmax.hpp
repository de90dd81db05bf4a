// Softmax over rows, and cross entropy; see backend/cpu/softmax.cpp and cross_entropy.cpp.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

template <class T>
struct SoftmaxRow {
    const T* x;
    T* y;
    std::int64_t width;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const T* from = x + row * width;
        float largest = lowest;
        for_row(
            lanes, width, [&](std::int64_t i) { return float{from[i]}; },
            [&](std::int64_t, float value) { largest = value > largest ? value : largest; });
        largest = lanes.max(largest);
        const float factor = 1 / sum_row(lanes, width, [&](std::int64_t i) { return expf(from[i] - largest); });
        put_row(lanes, width, y + row * width, [&](std::int64_t i) { return expf(from[i] - largest) * factor; });
    }
};

template <class T>
struct SoftmaxRowGradient {
    const T *y, *dy;
    T* dx;
    std::int64_t width;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const std::int64_t at = row * width;
        const float sum = sum_row(lanes, width, [&](std::int64_t i) { return y[at + i] * dy[at + i]; });
        put_row(lanes, width, dx + at, [&](std::int64_t i) { return y[at + i] * (dy[at + i] - sum); });
    }
};

template <class T, class Machine>
void forward(Machine& m, const Softmax& s, const OperatorCall& c) {
    m.rows(s.rows, s.width, SoftmaxRow<T>{c.inputs[0].as<T>(), c.outputs[0].as<T>(), s.width});
}

template <class T, class Machine>
void backward(Machine& m, const Softmax& s, const OperatorCall& c) {
    m.rows(s.rows, s.width,
           SoftmaxRowGradient<T>{c.outputs[0].as<T>(), c.output_gradients[0].as<T>(), c.input_gradients[0].as<T>(), s.width});
}

// Where the logits of a row lie: side by side, as those of a pixel; or one below the other, when each column of a sample's logits is a
// distribution over its positions.
struct LogitRows {
    std::int64_t classes, pitch, whole;  // classes that are here; the columns of the logits; the classes that these have room for
    const std::int64_t* labels;
    std::int64_t first;  // the first class that is here

    [[nodiscard]] SEXTANT_KERNEL bool side_by_side() const { return pitch == whole; }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t begin(std::int64_t row) const {
        return side_by_side() ? row * pitch : row / pitch * whole * pitch + row % pitch;
    }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t step() const { return side_by_side() ? 1 : pitch; }
};

inline LogitRows logit_rows(const CrossEntropy& e, const OperatorCall& c) {
    return {c.valid_rows, columns_of(c.input(0)), e.classes, c.inputs[1].indices(), c.first_row};
}

// Losses [rows], and statistics [rows, 3]: of each row the largest logit, the sum of exponentials of the distances to it, and the logit of
// the label (0 where another rank has it).
struct RowLosses {
    float *losses, *statistics;
    SEXTANT_KERNEL void put(std::int64_t row, float largest, float sum, float target) const {
        losses[row] = largest + logf(sum) - target;
        statistics[3 * row] = largest;
        statistics[3 * row + 1] = sum;
        statistics[3 * row + 2] = target;
    }
};

template <class T>
struct CrossEntropyRow {
    const T* x;
    RowLosses to;
    LogitRows l;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const T* from = x + l.begin(row);
        const std::int64_t label = l.labels[row] - l.first;
        const std::int64_t step = l.step();
        float largest = lowest, target = 0;
        for_row(
            lanes, l.classes, [&](std::int64_t j) { return float{from[j * step]}; },
            [&](std::int64_t j, float value) {
                largest = value > largest ? value : largest;
                if (j == label) target = value;
            });
        largest = lanes.max(largest);
        const float sum = sum_row(lanes, l.classes, [&](std::int64_t j) { return expf(from[j * step] - largest); });
        target = lanes.sum(target);
        if (lanes.first() == 0) to.put(row, largest, sum, target);
    }
};

template <class T>
struct CrossEntropyGradient {
    const T* x;
    const float *statistics, *dy;
    T* dx;
    LogitRows l;

    template <class Lanes>
    SEXTANT_KERNEL void operator()(const Lanes& lanes, std::int64_t row) const {
        const std::int64_t begin = l.begin(row), step = l.step(), label = l.labels[row] - l.first;
        const float largest = statistics[3 * row], share = 1 / statistics[3 * row + 1], slope = dy[row];
        for_row(
            lanes, l.classes,
            [&](std::int64_t j) { return slope * (share * expf(x[begin + j * step] - largest) - (j == label ? 1.0F : 0.0F)); },
            [&](std::int64_t j, float value) { dx[begin + j * step] = value; });
    }
};

template <class T, class Machine>
void forward(Machine& m, const CrossEntropy& e, const OperatorCall& c) {
    m.rows(e.rows, c.valid_rows, CrossEntropyRow<T>{c.inputs[0].as<T>(), {c.outputs[0].reals(), c.outputs[1].reals()}, logit_rows(e, c)});
}

template <class T, class Machine>
void backward(Machine& m, const CrossEntropy& e, const OperatorCall& c) {
    T* dx = c.input_gradients[0].as<T>();
    if (c.valid_rows < e.classes) m.clear(dx, c.input_gradients[0].elements);
    m.rows(e.rows, c.valid_rows,
           CrossEntropyGradient<T>{c.inputs[0].as<T>(), c.outputs[1].reals(), c.output_gradients[0].reals(), dx, logit_rows(e, c)});
}

// The loss over classes that several ranks hold, from the statistics of each: [ranks, rows, 3].
struct MergeLosses {
    const float* parts;
    RowLosses to;
    std::int64_t rows;
    int ranks;

    SEXTANT_KERNEL void operator()(std::int64_t row) const {
        float largest = lowest, sum = 0, target = 0;
        for (int p = 0; p < ranks; ++p) {
            const float of_part = parts[3 * (p * rows + row)];
            largest = of_part > largest ? of_part : largest;
        }
        for (int p = 0; p < ranks; ++p) {
            const float* part = parts + 3 * (p * rows + row);
            sum += part[1] * expf(part[0] - largest);
            target += part[2];
        }
        to.put(row, largest, sum, target);
    }
};

}  // namespace sextant::kernels
