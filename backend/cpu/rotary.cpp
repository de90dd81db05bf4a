// Rotary positions: each pair (i, i + width / 2) of a head is rotated by position x base^(-2 i / width) (RoFormer, arXiv 2104.09864,
// section 3.2.2; pairs as in GPT-NeoX and Llama). Backward rotates the other way.
#include "backend/cpu/operators.hpp"
#include "backend/exec/rotary_heads.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::cpu {
namespace {

class Rotation {
public:
    // `positions`: of each sequence here.
    Rotation(const Pointwise& p, std::int64_t positions, ContextCut context, float direction)
        : p_(p), half_(rotary_heads(p, 0).pairs()), positions_(positions), cosines_(positions * half_), sines_(positions * half_) {
        for (std::int64_t row = 0; row < positions; ++row)
            for (std::int64_t i = 0; i < half_; ++i) {
                const double exponent = -static_cast<double>(i) / static_cast<double>(half_);
                const double angle = static_cast<double>(context.position(row, positions)) * std::pow(p.constant, exponent);
                cosines_[row * half_ + i] = static_cast<float>(std::cos(angle));
                sines_[row * half_ + i] = direction * static_cast<float>(std::sin(angle));
            }
    }

    void apply(const float* from, float* to, std::int64_t rows, std::int64_t columns) const {
        const RotaryHeads heads = rotary_heads(p_, columns);
        for (std::int64_t r = 0; r < rows; ++r) {
            const float *cosine = cosines_.data() + r % positions_ * half_, *sine = sines_.data() + r % positions_ * half_;
            for (std::int64_t head = r * columns; head < (r + 1) * columns; head += heads.width) {
                std::copy_n(from + head, heads.still(), to + head);
                const float *first = from + head + heads.still(), *second = first + half_;
                float* turned = to + head + heads.still();
                for (std::int64_t i = 0; i < half_; ++i) {
                    const float a = first[i], b = second[i];
                    turned[i] = a * cosine[i] - b * sine[i];
                    turned[half_ + i] = b * cosine[i] + a * sine[i];
                }
            }
        }
    }

private:
    const Pointwise& p_;
    std::int64_t half_, positions_;
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
