// Which layers of a chain read which, and which of them make a block. Internal to model/workload.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/workload.hpp"

#include <vector>

namespace sextant {

inline constexpr int chain_data = -1;  // as a layer's number: what the network reads

// By layer, the numbers of those that it reads. Names that nobody has, or two have, layers that nobody reads and joins of too few are
// problems; what is returned is usable all the same.
std::vector<std::vector<int>> chain_sources(const std::vector<ChainLayer>&, Diagnostics&);

// Layers [begin, end) that make one block.
struct ChainGroup {
    std::size_t begin = 0, end = 0;
    bool weighted = false;  // it has a layer with a matrix; else it is all there is in front of the classifier
};

// A block has one layer with a matrix, or one residual, and all behind it up to the next; the first also what stands in front of it. Where
// layers read others than the one before, a block ends only where a single image is all that later layers read. See NetworkBuilder.
std::vector<ChainGroup> chain_groups(const std::vector<ChainLayer>&, const std::vector<std::vector<int>>& sources);

std::string chain_pointer(std::size_t layer);  // "/workload/chain/layers/3"
// All about the layer, and about what it reads from where this is not the layer before: blocks of the same words are the same.
std::string describe(const ChainLayer&, int number, const std::vector<int>& sources);

}  // namespace sextant
