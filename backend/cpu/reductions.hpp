// Largest element and sums of a row. Several partial results side by side: with a single one each step would wait for the one before, and
// no compiler may reorder them by itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace sextant::cpu {

inline constexpr std::int64_t reduction_lanes = 16;

// combine(combine(start, term(0)), term(1)) ... in another order.
template <class Term, class Combine>
float reduced(std::int64_t count, float start, const Term& term, const Combine& combine) {
    std::array<float, reduction_lanes> lanes;
    lanes.fill(start);
    std::int64_t i = 0;
    for (; i + reduction_lanes <= count; i += reduction_lanes)
        for (std::int64_t k = 0; k < reduction_lanes; ++k)
            lanes[static_cast<std::size_t>(k)] = combine(lanes[static_cast<std::size_t>(k)], term(i + k));
    for (; i < count; ++i) lanes[0] = combine(lanes[0], term(i));
    float all = lanes[0];
    for (std::size_t k = 1; k < lanes.size(); ++k) all = combine(all, lanes[k]);
    return all;
}

inline float largest_of(const float* x, std::int64_t count) {
    return reduced(
        count, x[0], [x](std::int64_t i) { return x[i]; }, [](float a, float b) { return a < b ? b : a; });
}
inline float sum_of(const float* x, std::int64_t count) {
    return reduced(
        count, 0.0F, [x](std::int64_t i) { return x[i]; }, [](float a, float b) { return a + b; });
}
template <class Value>
float dot_of(const Value* x, const Value* y, std::int64_t count) {
    return reduced(
        count, 0.0F, [x, y](std::int64_t i) { return x[i] * y[i]; }, [](float a, float b) { return a + b; });
}

}  // namespace sextant::cpu
