// What all processes of a job agree on.
#pragma once

#include "backend/exec/device.hpp"
#include "model/graph/task_graph.hpp"
#include "model/plan/rank_layout.hpp"
#include "model/plan/scenario.hpp"

#include <optional>

namespace sextant {

// What a scenario leaves open. Absent: the usual value.
struct TrainingChoices {
    std::optional<double> learning_rate{};
    std::optional<double> clip_norm{};   // where the framework clips gradients
    std::optional<double> loss_scale{};  // the first one, of fp16
};

// Processes are numbered: first the workers, as in the graph, then the parameter servers. All servers are one rank of the graph.
struct Job {
    Scenario scenario;  // one that unsupported() accepts, with the precision in which its framework trains
    TaskGraph graph;    // lowered without folding
    Network serial;     // the network without any parallelism
    std::uint64_t seed = 1;
    OptimizerSettings optimizer;
    bool balances_context = false;  // each rank of a context group has an early and a late slice, because attention is causal

    Job(Scenario, std::uint64_t seed, const TrainingChoices&);

    [[nodiscard]] Element element() const { return element_of(scenario.plan.precision.parameter); }  // of activations and weights
    [[nodiscard]] BlockCut cut_at(const RankPlace& at) const {
        return {{at.tensor, scenario.plan.tp}, {at.context, scenario.plan.cp, balances_context}, {}};
    }
    [[nodiscard]] std::size_t experts() const;      // of a layer of experts; 0 in a dense network
    [[nodiscard]] std::int64_t mtp_layers() const;  // TransformerSpec::mtp_layers
    // MixtureOfExperts::bias_update_speed; 0 where routers have no biases, or are frozen beside adapters.
    [[nodiscard]] double bias_update_speed() const;
    [[nodiscard]] int workers() const;
    [[nodiscard]] int servers() const;
    [[nodiscard]] int processes() const { return workers() + servers(); }
    [[nodiscard]] bool is_server(int process) const { return process >= workers(); }
    // Training steps in one walk through the graph: several where workers do not wait for each other.
    [[nodiscard]] int rounds() const { return graph.steps(); }
};

}  // namespace sextant
