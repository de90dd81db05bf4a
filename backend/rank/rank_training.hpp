// What one process does once the job is known: a worker trains, a parameter server adds up.
#pragma once

#include "backend/exec/fed_ranks.hpp"
#include "backend/exec/fingerprint.hpp"
#include "backend/exec/rank_runner.hpp"
#include "backend/rank/exec_arguments.hpp"
#include "backend/rank/mpi_world.hpp"

#include <exception>
#include <memory>
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

// What a rank computes on and exchanges by. `host`: the cores that update where the plan offloads; else null.
struct RankMeans {
    std::unique_ptr<ComputeDevice> device, host;
    std::unique_ptr<Transport> transport;
};

// A worker's steps, with a thread beside that communicates.
RankOutcome run_worker(const MpiWorld&, const ExecArguments&, const Job&, RankMeans&, Whereabouts&);
RankOutcome run_server(const MpiWorld&, const ExecArguments&, const Job&, RankMeans&, Whereabouts&);

FeedSettings feed_settings(const ExecArguments&);

// Ends the job with what was thrown, where it was caught: arrays that messages are still to fill must not go before.
[[noreturn]] void end_all(const MpiWorld&, const Whereabouts&, const std::exception_ptr&);

}  // namespace sextant
