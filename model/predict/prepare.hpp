// The parts that a prepared scenario is put together from, for those who prepare many plans of one job. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

#include <span>
#include <vector>

namespace sextant {

// Whether each device of the job has a node for itself.
bool one_to_a_node(const Scenario&);

// The machine, the job, and whatever of the plan does not depend on how the network is cut.
Prepared::State prepare_machine(const Scenario&);

std::vector<BlockKernels> kernels_of(const Network&, const Prepared::State&);

// By stage and chunk. `parameters`: of each block of the network.
std::vector<std::vector<ChunkBlocks>> chunks_of(const Network&, std::span<const BlockParameters> parameters, const Prepared::State&);

// Whether the schedule is played rather than priced by a formula: where stages wait for each other in a way that formulas follow for equal
// stages only, and are not so many that playing them would take long.
bool is_played(const Plan&);

}  // namespace sextant
