// The columns of a tensor that rotary positions rotate: the last ones of each head.
#pragma once

#include "model/workload/operator.hpp"

#include <cstdint>

namespace sextant {

struct RotaryHeads {
    std::int64_t width = 0, rotated = 0;  // columns of a head, and how many of them are rotated

    [[nodiscard]] constexpr std::int64_t still() const { return width - rotated; }
    [[nodiscard]] constexpr std::int64_t pairs() const { return rotated / 2; }
};

// A tensor that has only the rotated columns is a single head, which all heads share.
constexpr RotaryHeads rotary_heads(const Pointwise& p, std::int64_t columns) {
    const std::int64_t rotated = p.rotated_dim > 0 ? p.rotated_dim : p.head_dim;
    return {columns == rotated ? rotated : p.head_dim, rotated};
}

}  // namespace sextant
