// Exchanges inside a block, with the copies that they cost: collectives work on arrays that lie together.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/device.hpp"

namespace sextant {

// From an array shaped as `from` to a new one shaped as `to`. The two differ in the first extent (rows), the second (channels or features),
// or not at all. Kind none cuts out this rank's part of what all have.
Array exchange(ComputeDevice&, RankCommunicator&, ExchangeKind, ParallelGroup, TensorCut, const Array&, const Tensor& from,
               const Tensor& to);

}  // namespace sextant
