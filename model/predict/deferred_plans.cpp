// Plans of one schedule that were deferred are priced together: what their passes share is worked out once, and they are played side by
// side.
#include "model/predict/plan_pricer.hpp"
#include "model/predict/prepare.hpp"

#include <algorithm>
#include <span>

namespace sextant {

void PlanPricer::defer(Bytes memory) {
    const Plan& now = state_.scenario.plan;
    deferred_.push_back({{now.data_parallel, now.shard_group, now.offload, now.recompute, now.recompute_blocks}, memory});
}

void PlanPricer::choose(const Choice& choice) {
    share(choice.data_parallel, choice.shard_group, choice.offload);
    recompute(choice.recompute, choice.recompute_blocks);
    layout();
}

void PlanPricer::price_deferred(const Take& take, const Worth& worth) {
    if (deferred_.empty()) return;
    const Plan& now = state_.scenario.plan;
    state_.played = is_played(now) ? orders_.played.find(now.schedule, now.pp, now.vpp, state_.micro_batches, now.forward_only) : nullptr;
    std::size_t count = 0;
    for (Deferred& plan : deferred_) plan.passes = find_passes(plan.choice, count);
    if (state_.played && worth)
        std::erase_if(deferred_, [&](const Deferred& a) { return !worth(least_step_before_play(passes_[a.passes].stages), a.memory); });
    find_ends();
    state_.input = input_job(state_.scenario.data, state_);
    for (const Deferred& plan : deferred_) {
        choose(plan.choice);
        const Passes& passes = passes_[plan.passes];
        take(price_step(state_, passes.stages, passes.ends, share().updates, {}), plan.memory);
    }
    deferred_.clear();
}

// The index of these passes among the first `count`, or of a new entry after them.
std::size_t PlanPricer::find_passes(Choice choice, std::size_t& count) {
    const bool with_update = state_.scenario.framework.offloaded_gradients == OffloadedGradients::with_update;
    if (choice.offload == Offload::optimizer && with_update) choice.offload = Offload::none;
    const auto all = std::span(passes_).first(count);
    const auto known = std::ranges::find(all, choice, &Passes::choice);
    if (known != all.end()) return static_cast<std::size_t>(known - all.begin());
    choose(choice);
    if (count == passes_.size()) passes_.emplace_back();
    Passes& passes = passes_[count];
    passes.choice = choice;
    const StageParts parts{sends(), placed_stages().as_before, [this](std::size_t s) -> const StageWork& { return work(s).of_blocks; },
                           [this](std::size_t s) -> const StageExchanges& { return exchanges(s); },
                           [&](std::size_t s, double beside) -> std::optional<DataParallelPrice>& {
                               return work(s).sharded[{state_.scenario.plan.offload, beside}];
                           }};
    price_stages(state_, parts, {}, passes.stages);
    passes.ends.clear();
    return count++;
}

// Ends of the passes that some deferred plan still needs.
void PlanPricer::find_ends() {
    wanted_.clear();
    pipelines_.clear();
    for (const Deferred& plan : deferred_) {
        Passes& passes = passes_[plan.passes];
        if (!passes.ends.empty()) continue;
        passes.ends.resize(passes.stages.size());
        wanted_.push_back(&passes);
        pipelines_.push_back(passes.stages.played(passes.ends));
    }
    if (state_.played) player_.play(*state_.played, pipelines_, state_.micro_batches);
    for (Passes* passes : wanted_) sextant::find_ends(state_, passes->stages, passes->ends);
}

}  // namespace sextant
