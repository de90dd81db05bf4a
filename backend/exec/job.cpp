#include "backend/exec/job.hpp"

#include "model/lower/lower.hpp"
#include "model/plan/partition.hpp"

#include <algorithm>

namespace sextant {
namespace {

Network serial_network(Scenario scenario) {
    scenario.plan.tp = 1;
    scenario.plan.sequence_parallel = false;
    return cut_network(scenario);
}

constexpr double usual_clip_norm = 1;  // of trainers that clip

OptimizerSettings settings_of(const Scenario& scenario, std::optional<double> learning_rate, std::optional<double> clip_norm) {
    const Optimizer kind = scenario.plan.optimizer;
    OptimizerSettings s;
    s.kind = kind;
    if (scenario.framework.clips_gradients) s.largest_norm = clip_norm.value_or(usual_clip_norm);
    const bool plain = kind == Optimizer::sgd || kind == Optimizer::momentum;
    s.learning_rate = learning_rate.value_or(plain ? 0.05 : 1e-3);
    return s;
}

}  // namespace

Job::Job(Scenario s, std::uint64_t seed_, std::optional<double> learning_rate, std::optional<double> clip_norm)
    : scenario(std::move(s)),
      graph(lower(scenario, Fold::nothing)),
      serial(serial_network(scenario)),
      seed(seed_),
      optimizer(settings_of(scenario, learning_rate, clip_norm)) {}

int Job::workers() const {
    return static_cast<int>(std::ranges::count_if(graph.ranks(), [](const RankInfo& r) { return !r.server; }));
}

int Job::servers() const {
    const RankInfo& last = graph.ranks().back();
    return last.server ? last.multiplicity : 0;
}

}  // namespace sextant
