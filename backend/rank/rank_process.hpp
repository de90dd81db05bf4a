// The process of one rank, whatever computes on it. mpirun or srun starts as many as the plan has; rank 0 writes what they found.
#pragma once

#include "backend/rank/rank_engine.hpp"

namespace sextant {

// Its exit code.
int run_rank(int argc, char** argv, const RankEngine&);

}  // namespace sextant
