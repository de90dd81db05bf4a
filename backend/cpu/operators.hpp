// Forward and backward of each kind of operator on one CPU: one family per file. Internal to backend/cpu.
#pragma once

#include "backend/cpu/engine.hpp"
#include "backend/exec/device.hpp"
#include "backend/exec/key_range.hpp"

#include <algorithm>

namespace sextant::cpu {

// Where an operator goes through its elements several times, it goes through so many at a time, which the cache still holds.
inline constexpr std::int64_t elements_at_once = 32768;
inline std::int64_t rows_at_once(std::int64_t width) { return std::max<std::int64_t>(1, elements_at_once / width); }
// work(first row, rows)
template <class Work>
void for_some_rows(std::int64_t rows, std::int64_t width, const Work& work) {
    for (std::int64_t first = 0; first < rows; first += rows_at_once(width)) work(first, std::min(rows_at_once(width), rows - first));
}

void forward(Engine&, const Gemm&, const OperatorCall&);
void backward(Engine&, const Gemm&, const OperatorCall&);
void forward(Engine&, const Convolution&, const OperatorCall&);
void backward(Engine&, const Convolution&, const OperatorCall&);
// Of single pixels, those of at most so many are computed as products, in fp32; frameworks/sextant.json says so to predictions
// (`products_of_pixels`).
constexpr std::int64_t most_pixels_of_a_product = 128;
void forward(Engine&, const Attention&, const OperatorCall&);
void backward(Engine&, const Attention&, const OperatorCall&);
void forward(Engine&, const SequenceConvolution&, const OperatorCall&);
void backward(Engine&, const SequenceConvolution&, const OperatorCall&);
void forward(Engine&, const StateSpaceScan&, const OperatorCall&);
void backward(Engine&, const StateSpaceScan&, const OperatorCall&);
void forward(Engine&, const Normalization&, const OperatorCall&);
void backward(Engine&, const Normalization&, const OperatorCall&);
void forward(Engine&, const Softmax&, const OperatorCall&);
void backward(Engine&, const Softmax&, const OperatorCall&);
void forward(Engine&, const Pointwise&, const OperatorCall&);
void backward(Engine&, const Pointwise&, const OperatorCall&);
void forward(Engine&, const Pooling&, const OperatorCall&);
void backward(Engine&, const Pooling&, const OperatorCall&);
void forward(Engine&, const Embedding&, const OperatorCall&);
void backward(Engine&, const Embedding&, const OperatorCall&);
void forward(Engine&, const CrossEntropy&, const OperatorCall&);
void backward(Engine&, const CrossEntropy&, const OperatorCall&);

// Of mixtures of experts, on rows that were routed (experts.cpp).
void forward(Engine&, const TokenPermute&, const OperatorCall&);
void backward(Engine&, const TokenPermute&, const OperatorCall&);
void forward_experts(Engine&, const Gemm&, const OperatorCall&);
void backward_experts(Engine&, const Gemm&, const OperatorCall&);
void forward_routed(Engine&, const Pointwise&, const OperatorCall&);
void backward_routed(Engine&, const Pointwise&, const OperatorCall&);

void merge_losses(const float* parts, int ranks, std::int64_t rows, float* losses, float* statistics);
// Whatever of Pointwise is no function of single elements: position and segment tables, the class token, selecting and joining.
void forward_rows(const OperatorCall&);
void backward_rows(const OperatorCall&);
void forward_rotary(const Pointwise&, const OperatorCall&);
void backward_rotary(const Pointwise&, const OperatorCall&);
void forward_rearrangement(const Pointwise&, const OperatorCall&);
void backward_rearrangement(const Pointwise&, const OperatorCall&);
void forward_distances(const OperatorCall&);
void backward_distances(const OperatorCall&);
void mask_windows(const Pointwise&, const OperatorCall&, const Array& from, const Array& to, float hidden);
void forward_resize(const Pointwise&, const OperatorCall&);
void backward_resize(const Pointwise&, const OperatorCall&);
void forward_dropout(const Pointwise&, const OperatorCall&);
void backward_dropout(const Pointwise&, const OperatorCall&);

// The tokens of one head as a matrix [length, width]; they lie [samples x length, heads x width].
Matrix head_of(const Array& tokens, std::int64_t sample, std::int64_t head, std::int64_t length, std::int64_t width, std::int64_t heads);

// A row of scores, the farther the key from the one beside the query the less (ALiBi).
inline void fall_with_distance(float* row, std::int64_t keys, float slope, std::int64_t beside) {
    for (std::int64_t j = 0; j < keys; ++j) row[j] -= slope * static_cast<float>(beside < j ? j - beside : beside - j);
}

// y = x + bias in each row of a matrix, whose width is that of the bias; all of one type.
void add_bias(const Array& x, const Array& bias, const Array& y);
// The gradient of a bias is summed over the rows of a matrix.
template <class Value>
void add_column_sums(const Value* from, float* sums, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < columns; ++i) sums[i] += from[r * columns + i];
}
void add_column_sums(const Array& from, float* sums, std::int64_t rows, std::int64_t columns);

// Where several products are summed into an array of 16 bits: the sum is made in fp32, and rounded once.
class WideSum {
public:
    // `several`: whether they are.
    WideSum(Engine& engine, const Array& result, bool several)
        : engine_(engine), result_(result), sum_(several && is_half(result.element) ? engine.scratch.array(result.elements) : result) {}
    [[nodiscard]] const Array& sum() const { return sum_; }
    void finish() {
        if (sum_.element != result_.element) engine_.convert(sum_, result_);
    }

private:
    Engine& engine_;
    Array result_, sum_;
};

}  // namespace sextant::cpu
