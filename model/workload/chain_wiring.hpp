// Which layers of a chain read which, and which of them make a block. Internal to model/workload.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/workload.hpp"

#include <vector>

namespace sextant {

inline constexpr int chain_data = -1;  // stands for what the network reads, where a layer's number is expected

// For each layer, the numbers of the layers that it reads. Adds a diagnostic for a name that no layer has or two have, a layer that nobody
// reads, and a join of too few layers. What is returned can be used all the same.
std::vector<std::vector<int>> chain_sources(const std::vector<ChainLayer>&, Diagnostics&);

// Layers [begin, end) that make one block.
struct ChainGroup {
    std::size_t begin = 0, end = 0;
    bool weighted = false;  // it has a layer with a matrix; a group without one is all that stands in front of the classifier
};

// For each layer, and the data in front of them, the last layer that reads it; the data where none does.
std::vector<int> last_readers(const std::vector<std::vector<int>>& sources);

// A block has one layer with a matrix, or one residual, and all that follows up to the next; the first block also has what stands in front.
// Where layers read others than the one before, a block ends only where later layers read a single image; but for those that are joined
// with images that have been made larger again in between, as an encoder's with its decoder's, which go past the blocks. See
// NetworkBuilder.
std::vector<ChainGroup> chain_groups(const std::vector<ChainLayer>&, const std::vector<std::vector<int>>& sources);

std::string chain_pointer(std::size_t layer);  // "/workload/chain/layers/3"
// Describes the layer, and what it reads where that is not the layer before. Blocks with the same description are the same.
std::string describe(const ChainLayer&, int number, const std::vector<int>& sources);

}  // namespace sextant
