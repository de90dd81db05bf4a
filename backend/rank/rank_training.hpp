// What a process does once the job is known: a worker trains, a parameter server updates.
#pragma once

#include "backend/exec/fingerprint.hpp"
#include "backend/exec/rank_input.hpp"
#include "backend/exec/rank_runner.hpp"
#include "backend/rank/exec_arguments.hpp"
#include "backend/rank/mpi_world.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace sextant {

// What a process recorded.
struct RankOutcome {
    std::vector<StepRecord> walks;  // one for each walk through the graph
    std::vector<Fingerprint> weights;
    UpdateChecksum pushed, applied;
    std::vector<int> staleness;
    std::vector<RankInput> inputs;
    std::optional<LossScale> loss_scale;
};

// What a rank computes and communicates with. `host`: the cores that update where the plan offloads; else null.
struct RankResources {
    std::unique_ptr<ComputeDevice> device, host;
    std::unique_ptr<Transport> transport;
};

// Runs a worker's steps, with a second thread that communicates.
RankOutcome run_worker(const MpiWorld&, const ExecArguments&, const Job&, RankResources&, RankActivity&);
RankOutcome run_server(const MpiWorld&, const ExecArguments&, const Job&, RankResources&, RankActivity&);

FeedSettings feed_settings(const ExecArguments&);

// Ends the job because of an exception. To be called where that is caught, while the arrays that messages may still fill exist.
[[noreturn]] void end_all(const MpiWorld&, const RankActivity&, const std::exception_ptr&);

}  // namespace sextant
