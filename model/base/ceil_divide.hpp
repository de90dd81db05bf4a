// Division of counts, rounded up: how many parts of a size hold a whole.
#pragma once

#include <concepts>

namespace sextant {

// whole >= 0, part > 0.
constexpr auto ceil_divide(std::integral auto whole, std::integral auto part) { return (whole + part - 1) / part; }

}  // namespace sextant
