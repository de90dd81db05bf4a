// Scores between the pixels of windows of px x px: [samples x windows x heads, queries, keys].
#pragma once

#include "backend/exec/device.hpp"
#include "backend/kernels/column_totals.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

// A learned number for each head and each distance of two pixels of a window, which is added to their score (arXiv 2103.14030,
// section 3.2).
struct DistanceTable {
    std::int64_t px, heads;

    [[nodiscard]] SEXTANT_KERNEL std::int64_t side() const { return 2 * px - 1; }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t distances() const { return side() * side(); }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t pixels() const { return px * px; }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t scores() const { return heads * pixels() * pixels(); }  // of a window
    // Where the number of a score is.
    [[nodiscard]] SEXTANT_KERNEL std::int64_t entry(std::int64_t score) const {
        const std::int64_t key = score % pixels(), query = score / pixels() % pixels(), head = score / pixels() / pixels() % heads;
        return head * distances() + (query / px - key / px + px - 1) * side() + query % px - key % px + px - 1;
    }
};

inline DistanceTable distance_table(const OperatorCall& c, const Array& values) {
    DistanceTable table{window_px(c.output(0)), 1};
    table.heads = values.elements / table.distances();
    return table;
}

template <class T>
struct AddDistances : ToElement<T> {
    const T *x, *values;
    DistanceTable table;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return x[i] + values[table.entry(i)]; }
};

// Of each number, the gradients of the scores that it was added to: of all windows, then of the pairs at its distance.
template <class T>
struct ScoreGradients {
    const T* dy;
    std::int64_t of_window;
    SEXTANT_KERNEL float operator()(std::int64_t, std::int64_t window, std::int64_t score) const { return dy[window * of_window + score]; }
};
struct SumPairs : ToElement<float> {
    const float* sums;
    DistanceTable table;
    SEXTANT_KERNEL float operator()(std::int64_t i) const {
        const std::int64_t px = table.px, pixels = table.pixels(), distance = i % table.distances(), head = i / table.distances();
        const std::int64_t down = distance / table.side() - px + 1, right = distance % table.side() - px + 1;
        float sum = to[i];
        for (std::int64_t row = down < 0 ? 0 : down; row < px && row - down < px; ++row)
            for (std::int64_t column = right < 0 ? 0 : right; column < px && column - right < px; ++column)
                sum += sums[(head * pixels + row * px + column) * pixels + (row - down) * px + column - right];
        return sum;
    }
};

template <class T, class Machine>
void add_distances(Machine& m, const OperatorCall& c) {
    const Array& values = c.weights[0];
    m.elements(c.outputs[0].elements,
               AddDistances<T>{{c.outputs[0].as<T>()}, c.inputs[0].as<T>(), values.as<T>(), distance_table(c, values)});
}

template <class T, class Machine>
void add_distances_back(Machine& m, const OperatorCall& c) {
    const Array& values = c.weight_gradients[0];
    const DistanceTable table = distance_table(c, values);
    const T* dy = c.output_gradients[0].as<T>();
    const std::int64_t count = c.output_gradients[0].elements;
    const ScoreGradients<T> term{dy, table.scores()};
    const Array sums = column_totals<float>(m, term, 1, count / table.scores(), table.scores());
    m.elements(values.elements, SumPairs{{values.reals()}, sums.reals(), table});
    if (c.input_gradients[0]) m.copy(dy, c.input_gradients[0].as<T>(), count);
}

// Of windows that lie half of one further, those at the far ends hold pixels from both ends of the image, which do not see each other.
struct ShiftedWindows {
    std::int64_t along, px, heads;

    [[nodiscard]] SEXTANT_KERNEL bool at_an_end(std::int64_t matrix) const {
        const std::int64_t window = matrix / heads;
        return window / along % along + 1 == along || window % along + 1 == along;
    }
    [[nodiscard]] SEXTANT_KERNEL bool sees(std::int64_t score) const {
        const std::int64_t pixels = px * px, key = score % pixels, query = score / pixels % pixels,
                           window = score / pixels / pixels / heads;
        return same_end(window / along % along, query / px, key / px) && same_end(window % along, query % px, key % px);
    }

    [[nodiscard]] SEXTANT_KERNEL bool same_end(std::int64_t window, std::int64_t query, std::int64_t key) const {
        const std::int64_t first_of_other = px - px / 2;
        return window + 1 < along || (query < first_of_other) == (key < first_of_other);
    }
};

inline ShiftedWindows shifted_windows(const Pointwise& p, const OperatorCall& c) {
    const std::int64_t along = p.shifted_windows;
    return {along, window_px(c.output(0)), c.output(0).shape[0] / c.samples / along / along};
}

template <class T>
struct MaskWindows : ToElement<T> {
    const T* from;
    ShiftedWindows windows;
    float hidden;
    SEXTANT_KERNEL float operator()(std::int64_t i) const { return windows.sees(i) ? static_cast<float>(from[i]) : hidden; }
};

}  // namespace sextant::kernels
