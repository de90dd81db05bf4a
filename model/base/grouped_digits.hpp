// Whole numbers as people read them: "28,657,498".
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

namespace sextant {

inline std::string grouped_digits(double value) {
    std::string digits = std::to_string(std::round(value));
    digits.erase(std::min(digits.find('.'), digits.size()));
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
    return digits;
}

}  // namespace sextant
