// Checks that an option's value is a whole number, in digits, that the type of the option can hold.
#pragma once

#include <cstdint>
#include <limits>

namespace CLI {
class Validator;
}

namespace sextant {

// CLI11's own checks replace a value that is out of range by the nearest one in range.
CLI::Validator whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace sextant
