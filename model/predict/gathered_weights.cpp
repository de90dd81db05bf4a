#include "model/predict/gathered_weights.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Which weights come to a rank for the passes over their block: those of which it holds a part, and all that the host has.
struct GatheredKinds {
    static GatheredKinds under(const Plan& plan) {
        const bool fetches = plan.offloads_parameters(), gathers = plan.shards_parameters();
        return {fetches || (gathers && plan.shard_ranks() > 1), fetches || (gathers && plan.expert_replicas() > 1)};
    }
    [[nodiscard]] double of(const ParameterCount& p) const { return (dense ? p.dense : 0) + (expert ? p.expert : 0); }
    [[nodiscard]] Bytes of(const WeightsInUse& w) const { return dense && expert ? w.all : dense ? w.dense : expert ? w.expert : Bytes{}; }

    bool dense, expert;
};

// Parameters of the largest block and of those that are prefetched beside it. A matrix that several blocks of the stage use is gathered
// with the first of them, and stays beside others until the last has used it.
double parameters_in_use(const Prepared::State& job, const StageBlocks& blocks, GatheredKinds kinds) {
    const auto uses = [](const SharedCount& matrix) { return matrix.owned + matrix.tied > 0; };
    ParameterCount all;
    EnumArray<SharedMatrix, int, shared_matrix_count> users{};
    const auto each = [&](const auto& take) {
        for (std::size_t t = 0; t < job.templates.size(); ++t)
            if (blocks.count[t] > 0) take(job.templates[t].trained + job.templates[t].frozen, blocks.count[t]);
    };
    each([&](const ParameterCount& weights, int count) {
        all = all + weights;
        for (const SharedMatrix m : all_shared_matrices) users[m] += uses(weights.shared[m]) ? count : 0;
    });
    double largest = 0, others = 0, shared = 0;
    for (const SharedMatrix m : all_shared_matrices)
        if (kinds.dense && users[m] > 1) shared += std::max(all.shared[m].owned, all.shared[m].tied);
    each([&](const ParameterCount& weights, int) {
        double gathered = kinds.of(weights);
        for (const SharedMatrix m : all_shared_matrices)
            if (kinds.dense && !(all.shared[m].owned > 0)) gathered += weights.shared[m].tied;  // the stage's copy
        largest = std::max(largest, gathered);
        if (std::ranges::none_of(all_shared_matrices, [&](SharedMatrix m) { return uses(weights.shared[m]); }))
            others = std::max(others, gathered);
    });
    const double at_once = 1.0 + job.scenario.framework.prefetch_blocks;
    return std::max(at_once * largest, shared + at_once * others);
}

}  // namespace

WeightsInUse weights_in_use(const Prepared::State& job, const StageBlocks& blocks) {
    const auto in_use = [&](GatheredKinds kinds) {
        return (1 - job.scenario.plan.pruned_fraction) * parameters_in_use(job, blocks, kinds) * size_of(job.precision.parameter);
    };
    return {in_use({true, false}), in_use({false, true}), in_use({true, true})};
}

// Weights that wait for backward are those of the whole stage, however many micro-batches read them meanwhile.
Bytes gathered_weights(const Prepared::State& job, std::size_t stage, const WeightsInUse& of_kinds) {
    const Plan& plan = job.scenario.plan;
    const GatheredKinds kinds = GatheredKinds::under(plan);
    const Bytes in_use = kinds.of(of_kinds);
    if (gives_back_weights(plan, job.scenario.framework)) return in_use;
    const StageParameters all = parameters_of(job, stage);
    return max(in_use, (1 - plan.pruned_fraction) * kinds.of(all.trained + all.frozen) * size_of(job.precision.parameter));
}

}  // namespace sextant
