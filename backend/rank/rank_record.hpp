// Gathers what all ranks did into one record of the run.
#pragma once

#include "backend/rank/rank_engine.hpp"
#include "backend/rank/rank_training.hpp"
#include "model/graph/run_record.hpp"

namespace sextant {

// All ranks call it; the record is complete on rank 0 only.
RunRecord gather_record(const RankEngine&, const MpiWorld&, const ExecArguments&, const Job&, const RankResources&, RankOutcome);

}  // namespace sextant
