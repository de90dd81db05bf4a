// Exchanges inside a block, with the copies that they cost: collectives work on arrays that lie together.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/device.hpp"

#include <span>
#include <vector>

namespace sextant {

// From an array shaped as `from` to a new one shaped as `to`. The two differ in the first extent (rows), the second (channels or features),
// or not at all. Kind none cuts out this rank's part of what all have.
Array exchange(ComputeDevice&, RankCommunicator&, ExchangeKind, ParallelGroup, TensorCut, const Array&, const Tensor& from,
               const Tensor& to);

// Over the context group, in one call for all arrays: from those of this rank's part of each of so many sequences to those of all of it, in
// the order of positions; and back, summed over the ranks.
std::vector<Array> gather_sequences(ComputeDevice&, RankCommunicator&, ContextCut, std::int64_t sequences, std::span<const Array> parts);
std::vector<Array> scatter_sequences(ComputeDevice&, RankCommunicator&, ContextCut, std::int64_t sequences, std::span<const Array> wholes);

}  // namespace sextant
