// What rotary positions turn of a tensor: of each head the last columns.
#pragma once

#include "model/workload/operator.hpp"

#include <cstdint>

namespace sextant {

struct RotaryHeads {
    std::int64_t width = 0, rotated = 0;  // columns of a head, and the last of them

    [[nodiscard]] constexpr std::int64_t still() const { return width - rotated; }
    [[nodiscard]] constexpr std::int64_t pairs() const { return rotated / 2; }
};

// Of a tensor of so many columns: one with those that are rotated and no others is of one head, which all heads share.
constexpr RotaryHeads rotary_heads(const Pointwise& p, std::int64_t columns) {
    const std::int64_t rotated = p.rotated_dim > 0 ? p.rotated_dim : p.head_dim;
    return {columns == rotated ? rotated : p.head_dim, rotated};
}

}  // namespace sextant
