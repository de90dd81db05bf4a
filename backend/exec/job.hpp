// What every process of a job must agree on.
#pragma once

#include "backend/exec/device.hpp"
#include "model/graph/task_graph.hpp"
#include "model/plan/scenario.hpp"

#include <optional>

namespace sextant {

// Processes are numbered: the workers as the graph numbers them, then the parameter servers, for all of which one rank of the graph stands.
struct Job {
    Scenario scenario;  // one that unsupported() has nothing against
    TaskGraph graph;    // lowered without folding
    Network serial;     // the network that nothing cuts
    std::uint64_t seed = 1;
    OptimizerSettings optimizer;

    // `clip_norm`: where the framework clips gradients; without it, 1.
    Job(Scenario, std::uint64_t seed, std::optional<double> learning_rate, std::optional<double> clip_norm);

    [[nodiscard]] int workers() const;
    [[nodiscard]] int servers() const;
    [[nodiscard]] int processes() const { return workers() + servers(); }
    [[nodiscard]] bool is_server(int process) const { return process >= workers(); }
    // Training steps in one walk through the graph: several where workers go on without each other.
    [[nodiscard]] int rounds() const { return graph.steps(); }
};

}  // namespace sextant
