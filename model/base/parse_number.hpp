// Texts that are numbers, whatever the locale.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace sextant {

// The number that a whole text is: none where anything stands beside it, where it is too large for its type, and of "nan" and "inf".
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc{} || end != last) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>)
        if (!std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace sextant
