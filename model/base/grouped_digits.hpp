// Counts as people read them: "28,657,498", "1,024"; with more digits also what need not be whole: "450.3".
#pragma once

#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

namespace sextant {

template <class Count>
requires std::integral<Count> || std::floating_point<Count> std::string grouped_digits(Count count, int digits = 1) {
    std::string text = number_text(static_cast<double>(count), digits);
    if (text.find('e') != std::string::npos) return text;
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    for (std::size_t at = std::min(text.find('.'), text.size()); at > first + 3;) text.insert(at -= 3, 1, ',');
    return text;
}

// "1 step", "1,024 steps".
template <class Count>
std::string counted(Count count, std::string_view one) {
    return grouped_digits(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

// What is known to three digits: "2,440", "1,230,000", "28.6".
inline std::string rounded_digits(double value) {
    constexpr double least = 1000;
    if (!(std::abs(value) >= least)) return number_text(value);
    const double digit = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
    return grouped_digits(std::round(value / digit) * digit);
}

// Of events that are counted, "44,800 /s", not of a clock.
inline std::string per_second_text(Frequency rate) { return grouped_digits(rate.si()) + " /s"; }

}  // namespace sextant
