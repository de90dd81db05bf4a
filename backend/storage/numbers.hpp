// Converts the values of samples, one byte each, to the numbers that networks take.
#pragma once

#include "backend/storage/sample.hpp"

#include <algorithm>

namespace sextant {

struct Numbers {
    float middle = 128, deviation = 64;
};

inline void append_numbers(std::vector<float>& to, BlobView values, const Numbers& n) {
    const std::size_t before = to.size();
    to.resize(before + values.size());
    std::ranges::transform(values, to.begin() + static_cast<std::ptrdiff_t>(before),
                           [&](std::uint8_t b) { return (static_cast<float>(b) - n.middle) / n.deviation; });
}

}  // namespace sextant
