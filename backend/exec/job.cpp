#include "backend/exec/job.hpp"

#include "backend/exec/loss_scale.hpp"
#include "model/lower/lower.hpp"
#include "model/plan/partition.hpp"

#include <algorithm>

namespace sextant {
namespace {

Network serial_network(Scenario scenario) {
    scenario.plan.tp = scenario.plan.cp = scenario.plan.ep = 1;
    scenario.plan.expert_tp = 0;
    scenario.plan.sequence_parallel = false;
    return cut_network(scenario);
}

bool has_causal_attention(const Network& network) {
    const auto causal = [](const Operator& op) {
        const auto* attention = std::get_if<Attention>(&op.kind);
        const auto* mask = std::get_if<Pointwise>(&op.kind);
        return (attention != nullptr && attention->causal) || (mask != nullptr && mask->causal);
    };
    return std::ranges::any_of(network.templates, [&](const auto& t) { return std::ranges::any_of(t.graph.operators(), causal); });
}

Scenario with_kept_precision(Scenario s) {
    s.plan.precision = kept_precision(s.plan, s.framework);
    return s;
}

constexpr double usual_clip_norm = 1;  // of trainers that clip

OptimizerSettings settings_of(const Scenario& scenario, const TrainingChoices& chosen) {
    const Optimizer kind = scenario.plan.optimizer;
    OptimizerSettings s;
    s.kind = kind;
    if (scenario.framework.clips_gradients) s.largest_norm = chosen.clip_norm.value_or(usual_clip_norm);
    if (scenario.plan.precision.compute == DataType::fp16) s.loss_scale = chosen.loss_scale.value_or(LossScale::usual);
    const bool plain = kind == Optimizer::sgd || kind == Optimizer::momentum;
    const bool lion = kind == Optimizer::lion;  // whose steps have one length in each direction: arXiv 2302.06675, section 5
    if (lion) s.beta2 = 0.99;
    s.learning_rate = chosen.learning_rate.value_or(plain ? 0.05 : lion ? 1e-4 : 1e-3);
    return s;
}

}  // namespace

Job::Job(Scenario s, std::uint64_t seed_, const TrainingChoices& chosen)
    : scenario(with_kept_precision(std::move(s))),
      graph(lower(scenario, Fold::nothing)),
      serial(serial_network(scenario)),
      seed(seed_),
      optimizer(settings_of(scenario, chosen)),
      balances_context(has_causal_attention(serial)) {}

std::size_t Job::experts() const {
    const auto* network = scenario.workload.transformer();
    return network != nullptr && network->moe ? static_cast<std::size_t>(network->moe->experts) : 0;
}

std::int64_t Job::mtp_layers() const {
    const auto* network = scenario.workload.transformer();
    return network != nullptr ? network->mtp_layers : 0;
}

double Job::bias_update_speed() const {
    const auto* network = scenario.workload.transformer();
    const bool moves = network != nullptr && network->moe && network->moe->sigmoid_router && !network->adapters;
    return moves ? network->moe->bias_update_speed : 0;
}

int Job::workers() const {
    return static_cast<int>(std::ranges::count_if(graph.ranks(), [](const RankInfo& r) { return !r.server; }));
}

int Job::servers() const {
    const RankInfo& last = graph.ranks().back();
    return last.server ? last.multiplicity : 0;
}

}  // namespace sextant
