// ALiBi: attention scores fall with the distance between query and key, by a slope of each head (arXiv 2108.12409, section 3, and its code
// for heads whose number is no power of two).
#pragma once

#include "backend/exec/key_range.hpp"
#include "backend/kernels/lanes.hpp"

namespace sextant::kernels {

struct AlibiBias {
    std::int64_t first = 0, heads = 1;  // the first head here, of all that the tensor group has

    // Of n heads, a power of two: 2^(-8/n), 2^(-16/n) ...; of more those of the power of two below, and of the double of that every other.
    [[nodiscard]] SEXTANT_KERNEL float slope(std::int64_t head_here) const {
        std::int64_t power = 1;
        while (2 * power <= heads) power *= 2;
        const std::int64_t head = first + head_here, behind = head - power;
        const std::int64_t eighths = behind < 0 ? 2 * (head + 1) : 2 * behind + 1;
        return exp2f(-4 * static_cast<float>(eighths) / static_cast<float>(power));
    }
    // What is subtracted from the score of a key. `beside`: the key at the position of the query.
    [[nodiscard]] SEXTANT_KERNEL float penalty(std::int64_t head_here, std::int64_t beside, std::int64_t key) const {
        return slope(head_here) * static_cast<float>(beside < key ? key - beside : beside - key);
    }
};

// For the heads of a rank. `place`: of a tensor in which `each` elements of each head, of so many here, lie together.
inline AlibiBias alibi_bias(const Place& place, std::int64_t heads, std::int64_t each) {
    const bool cut = place.run == heads * each;
    return cut ? AlibiBias{place.offset / each, place.stride / each} : AlibiBias{0, heads};
}

}  // namespace sextant::kernels
