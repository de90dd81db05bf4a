// Images in windows: copies that move elements, and what is added to scores for the distance of two pixels.
#include "backend/cpu/operators.hpp"
#include "backend/kernels/rearrange.hpp"
#include "backend/kernels/window_scores.hpp"

#include <algorithm>
#include <vector>

namespace sextant::cpu {
namespace {

// Calls work(element of the output, element of the input, how many lie side by side in both), outputs counted one behind the other.
template <class Work>
void for_each_stretch(const Pointwise& copy, const Work& work) {
    const kernels::SourceOf source(copy);
    const CopyAxis& last = copy.order.back();
    const std::int64_t stretch = last.stride == 1 && last.start == 0 ? last.extent : 1;
    for (std::int64_t i = 0; i < source.elements(); i += stretch) work(i, source(i), stretch);
}

// The number for each pair of pixels, looked up once for all windows and heads.
struct Distances {
    std::vector<std::int32_t> of_pair;
    std::int64_t matrices;
    kernels::DistanceTable table;

    Distances(const OperatorCall& c, const Array& values) : matrices(c.output(0).shape[0]), table(kernels::distance_table(c, values)) {
        of_pair.resize(static_cast<std::size_t>(table.pixels() * table.pixels()));
        for (std::size_t i = 0; i < of_pair.size(); ++i) of_pair[i] = static_cast<std::int32_t>(table.entry(static_cast<std::int64_t>(i)));
    }
    [[nodiscard]] std::int64_t pairs() const { return static_cast<std::int64_t>(of_pair.size()); }
    [[nodiscard]] std::int64_t of_head(std::int64_t matrix) const { return matrix % table.heads * table.distances(); }
};

// Where an element of all arrays, one behind the other, lies.
float* element_of(std::span<const Array> arrays, std::int64_t element) {
    const std::int64_t each = arrays[0].elements;
    return arrays[static_cast<std::size_t>(element / each)].reals() + element % each;
}

}  // namespace

void forward_rearrangement(const Pointwise& p, const OperatorCall& c) {
    for_each_stretch(p, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
        std::copy_n(c.inputs[0].reals() + from, count, element_of(c.outputs, to));
    });
}

void backward_rearrangement(const Pointwise& p, const OperatorCall& c) {
    for_each_stretch(p, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        std::copy_n(element_of(c.output_gradients, from), count, c.input_gradients[0].reals() + to);
    });
}

void forward_distances(const OperatorCall& c) {
    const Distances d(c, c.weights[0]);
    for (std::int64_t m = 0; m < d.matrices; ++m) {
        const float *x = c.inputs[0].reals() + m * d.pairs(), *values = c.weights[0].reals() + d.of_head(m);
        float* y = c.outputs[0].reals() + m * d.pairs();
        for (std::int64_t i = 0; i < d.pairs(); ++i) y[i] = x[i] + values[d.of_pair[static_cast<std::size_t>(i)]];
    }
}

void backward_distances(const OperatorCall& c) {
    const Distances d(c, c.weight_gradients[0]);
    for (std::int64_t m = 0; m < d.matrices; ++m) {
        const float* dy = c.output_gradients[0].reals() + m * d.pairs();
        float* sums = c.weight_gradients[0].reals() + d.of_head(m);
        for (std::int64_t i = 0; i < d.pairs(); ++i) sums[d.of_pair[static_cast<std::size_t>(i)]] += dy[i];
    }
    if (c.input_gradients[0]) std::copy_n(c.output_gradients[0].reals(), d.matrices * d.pairs(), c.input_gradients[0].reals());
}

void mask_windows(const Pointwise& p, const OperatorCall& c, const Array& from, const Array& to, float hidden) {
    const kernels::ShiftedWindows windows = kernels::shifted_windows(p, c);
    const std::int64_t pairs = c.output(0).shape[1] * c.output(0).shape[2];
    for (std::int64_t m = 0; m < c.output(0).shape[0]; ++m) {
        const float* x = from.reals() + m * pairs;
        float* y = to.reals() + m * pairs;
        std::copy_n(x, pairs, y);
        if (!windows.at_an_end(m)) continue;
        for (std::int64_t i = 0; i < pairs; ++i)
            if (!windows.sees(m * pairs + i)) y[i] = hidden;
    }
}

}  // namespace sextant::cpu
