// The parts that a prepared scenario is put together from, for who prepares many plans of one job. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

#include <span>
#include <vector>

namespace sextant {

// The machine and the job, and what of a plan is no matter of how the network is cut.
Prepared::State prepare_machine(const Scenario&);

std::vector<BlockKernels> kernels_of(const Network&, const Prepared::State&);

// Of every stage, chunk by chunk. `parameters`: of each block of the network.
std::vector<std::vector<ChunkBlocks>> chunks_of(const Network&, std::span<const BlockParameters> parameters, const Prepared::State&);

// Do its stages wait for each other in turns that a formula follows for equal stages only? Not where there are so many that playing would
// take long.
bool is_played(const Plan&);

}  // namespace sextant
