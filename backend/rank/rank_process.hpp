// The process of one rank, for any engine. mpirun or srun starts one for each rank of the plan; rank 0 writes the record of the run.
#pragma once

#include "backend/rank/rank_engine.hpp"

namespace sextant {

// Returns the exit code of the process.
int run_rank(int argc, char** argv, const RankEngine&);

}  // namespace sextant
