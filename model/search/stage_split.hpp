// How many blocks each stage of a pipeline holds, where equal numbers do not make equal times: embedding and head are no layers, and the
// blocks of a convolutional network differ.
#pragma once

#include "model/base/quantity.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sextant {

// Blocks in a row, dealt out over as many stages as `even` has numbers, each at least one: so that the slowest stage is as fast as it can
// be, and among those splits the one whose stages' times differ least (the smallest sum of squares, by dynamic programming). None where no
// split has a faster slowest stage than `even`.
std::optional<std::vector<int>> balanced_split(std::span<const Seconds> block_times, std::span<const int> even);

}  // namespace sextant
