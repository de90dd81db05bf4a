// Of an option's value: a whole number in digits, which the type of the option can hold.
#pragma once

#include <cstdint>
#include <limits>

namespace CLI {
class Validator;
}

namespace sextant {

// CLI11's own take a value that is out of range for its nearest.
CLI::Validator whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace sextant
