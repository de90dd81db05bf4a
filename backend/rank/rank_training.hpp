// What one process does once the job is known: a worker trains, a parameter server adds up.
#pragma once

#include "backend/exec/fed_ranks.hpp"
#include "backend/exec/fingerprint.hpp"
#include "backend/exec/rank_runner.hpp"
#include "backend/rank/exec_arguments.hpp"
#include "backend/rank/mpi_world.hpp"

#include <exception>
#include <optional>
#include <vector>

namespace sextant {

// What a process did and found.
struct RankOutcome {
    std::vector<StepRecord> walks;  // through the graph
    std::vector<Fingerprint> weights;
    Tally pushed, applied;
    std::vector<int> staleness;
    std::vector<FedRank> fed;
    std::optional<LossScale> loss_scale;
};

// A worker's steps, with a thread beside that communicates.
RankOutcome run_worker(const MpiWorld&, const ExecArguments&, const Job&, ComputeDevice&, Transport&, Whereabouts&);
RankOutcome run_server(const MpiWorld&, const ExecArguments&, const Job&, ComputeDevice&, Transport&, Whereabouts&);

FeedSettings feed_settings(const ExecArguments&);

// Ends the job with what was thrown, where it was caught: arrays that messages are still to fill must not go before.
[[noreturn]] void end_all(const MpiWorld&, const Whereabouts&, const std::exception_ptr&);

}  // namespace sextant
