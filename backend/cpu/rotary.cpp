// Rotary positions: each pair (i, i + width / 2) of a head is rotated by position x base^(-2 i / width) (RoFormer, arXiv 2104.09864,
// section 3.2.2; pairs as in GPT-NeoX and Llama). Backward rotates the other way.
#include "backend/cpu/operators.hpp"

#include <cmath>

namespace sextant::cpu {
namespace {

class Rotation {
public:
    // `positions`: of each sequence here.
    Rotation(const Pointwise& p, std::int64_t positions, ContextCut context, float direction)
        : width_(p.head_dim), positions_(positions), cosines_(positions * width_ / 2), sines_(positions * width_ / 2) {
        for (std::int64_t row = 0; row < positions; ++row)
            for (std::int64_t i = 0; i < width_ / 2; ++i) {
                const double exponent = -2 * static_cast<double>(i) / static_cast<double>(width_);
                const double angle = static_cast<double>(context.position(row, positions)) * std::pow(p.constant, exponent);
                cosines_[row * width_ / 2 + i] = static_cast<float>(std::cos(angle));
                sines_[row * width_ / 2 + i] = direction * static_cast<float>(std::sin(angle));
            }
    }

    void apply(const float* from, float* to, std::int64_t rows, std::int64_t columns) const {
        const std::int64_t half = width_ / 2;
        for (std::int64_t r = 0; r < rows; ++r) {
            const float *cosine = cosines_.data() + r % positions_ * half, *sine = sines_.data() + r % positions_ * half;
            for (std::int64_t head = r * columns; head < (r + 1) * columns; head += width_)
                for (std::int64_t i = 0; i < half; ++i) {
                    const float a = from[head + i], b = from[head + half + i];
                    to[head + i] = a * cosine[i] - b * sine[i];
                    to[head + half + i] = b * cosine[i] + a * sine[i];
                }
        }
    }

private:
    std::int64_t width_, positions_;
    std::vector<float> cosines_, sines_;  // [row of a sequence, pair]
};

void rotate(const Pointwise& p, const OperatorCall& c, std::span<const Array> from, std::span<const Array> to, float direction) {
    const Rotation rotation(p, c.output(0).shape.front() / c.samples, c.place.context, direction);
    for (std::size_t i = 0; i < to.size(); ++i)
        if (from[i] && to[i]) rotation.apply(from[i].reals(), to[i].reals(), c.output(i).shape.front(), c.output(i).shape.back());
}

}  // namespace

void forward_rotary(const Pointwise& p, const OperatorCall& c) { rotate(p, c, c.inputs, c.outputs, 1); }
void backward_rotary(const Pointwise& p, const OperatorCall& c) { rotate(p, c, c.output_gradients, c.input_gradients, -1); }

}  // namespace sextant::cpu
