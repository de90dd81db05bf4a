// Some of many, where there is no room for all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sextant {

// Indices of `count` things, or of `most` of them, evenly spread, the first and the last included. most >= 2.
inline std::vector<std::size_t> evenly_spread(std::size_t count, std::size_t most) {
    std::vector<std::size_t> indices(std::min(count, most));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = count <= most ? i : i * (count - 1) / (most - 1);
    return indices;
}
// Likewise, with `one` of them whatever is left out.
inline std::vector<std::size_t> evenly_spread(std::size_t count, std::size_t most, std::size_t one) {
    std::vector<std::size_t> indices = evenly_spread(count, most);
    const auto at = std::ranges::lower_bound(indices, one);
    if (at == indices.end() || *at != one) indices.insert(at, one);
    return indices;
}

}  // namespace sextant
