// Images of more pixels, which lie as pixels by channels. Forward gathers, backward scatters what forward gathered.
#include "backend/kernels/resize.hpp"

#include "backend/cpu/operators.hpp"

#include <algorithm>

namespace sextant::cpu {
namespace {

// Calls work(element of the larger image, of the smaller, weight) for the first channel of each pair of pixels.
template <class Work>
void for_each_pair(const kernels::ResizeImage& image, std::int64_t samples, const Work& work) {
    const kernels::ResizeAxis &rows = image.rows, &columns = image.columns;
    const auto both = [](const kernels::ResizeAxis::Mixture& m, const auto& visit) {
        visit(m.first, 1 - m.of_second);
        if (m.of_second > 0) visit(m.second, m.of_second);
    };
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int32_t y = 0; y < rows.out; ++y)
            both(rows.mixture(y), [&](std::int32_t row, float of_row) {
                for (std::int32_t x = 0; x < columns.out; ++x)
                    both(columns.mixture(x), [&](std::int32_t column, float of_column) {
                        work(((s * rows.out + y) * columns.out + x) * image.channels,
                             ((s * rows.in + row) * columns.in + column) * image.channels, of_row * of_column);
                    });
            });
}

// Each pixel of one image is added to those of the other that it takes part in: `back` from the larger to the smaller.
void add_pairs(const Pointwise& p, const OperatorCall& c, const Array& from, const Array& to, bool back) {
    const kernels::ResizeImage image = kernels::resize_image(p, c);
    std::fill_n(to.reals(), to.elements, 0.0F);
    for_each_pair(image, c.output(0).shape[0], [&](std::int64_t large, std::int64_t small, float weight) {
        const float* x = from.reals() + (back ? large : small);
        float* y = to.reals() + (back ? small : large);
        for (std::int64_t i = 0; i < image.channels; ++i) y[i] += weight * x[i];
    });
}

}  // namespace

void forward_resize(const Pointwise& p, const OperatorCall& c) { add_pairs(p, c, c.inputs[0], c.outputs[0], false); }
void backward_resize(const Pointwise& p, const OperatorCall& c) { add_pairs(p, c, c.output_gradients[0], c.input_gradients[0], true); }

}  // namespace sextant::cpu
