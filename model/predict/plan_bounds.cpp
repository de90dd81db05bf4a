// Times that no step of a plan can beat. docs/model/search.md proves them.
#include "model/predict/plan_pricer.hpp"

namespace sextant {

// Each stage waits until the first micro-batch has come through the first chunks of the stages before it, then does all its own work, and
// what it makes last goes back through their first chunks. Gradients of weights that are made apart may be made meanwhile.
Seconds PlanPricer::least_step(Known known) {
    const bool by_groups = known == Known::groups;
    const Plan& plan = state_.scenario.plan;
    const double m = static_cast<double>(state_.micro_batches);
    const Framework& framework = state_.scenario.framework;
    const Seconds each = state_.on_host(framework.micro_batch_overhead);
    const auto over = [&](std::span<const ChunkBlocks> chunks, const StageBlocks& stage, const std::vector<BlockTime>& times) {
        BlockTime sum;
        for (const ChunkBlocks& chunk : chunks)
            for (const ChunkBlocks::Run& run : chunk.runs) {
                const BlockTime& block = times[static_cast<std::size_t>(run.first.block_template)];
                sum.forward += run.count * block.forward;
                sum.backward += run.count * block.backward;
                sum.recompute += run.recomputed(stage) * block.recompute;
            }
        if (plan.forward_only) sum.backward = sum.recompute = {};
        return sum;
    };
    const bool apart = weights_apart(plan.schedule) != WeightsApart::in_none;
    Seconds end, before, after, own, forward, backward;
    const std::vector<UpdateTime>* updates = known == Known::kernels ? nullptr : &share().updates;
    std::optional<Seconds> update;  // of the first stage, which ends last, or of any
    for (std::size_t s = 0; s < state_.stages.size(); ++s) {
        if (!split_->as_before[s] || (by_groups && state_.groups.kind_of[s] != state_.groups.kind_of[s - 1])) {
            const std::span<const ChunkBlocks> chunks = state_.chunks[s];
            const std::vector<BlockTime>& times = by_groups ? blocks(s).times : times_of_kernels(0);
            const BlockTime all = over(chunks, state_.stages[s], times);
            own = m * (all.forward + all.backward + all.recompute + each);
            const BlockTime chunk = over(chunks.first(1), state_.stages[s], times);
            forward = chunk.forward;
            backward = apart ? Seconds{} : chunk.backward + chunk.recompute;
            if (updates && (s == 0 || apart)) update = min(update.value_or((*updates)[s].total()), (*updates)[s].total());
        }
        end = max(end, before + own + after);
        before += forward;
        after += backward;
    }
    return end + update.value_or(Seconds{}) + state_.on_host(framework.step_overhead);
}

// The same bound for everything that stages do.
Seconds PlanPricer::least_step_before_play(const StagePrices& prices) const {
    const bool apart = weights_apart(state_.scenario.plan.schedule) != WeightsApart::in_none;
    const PlayedPipeline pipeline = prices.played({});
    Seconds end, before, after, all;
    for (std::size_t s = 0; s < prices.size(); ++s) {
        const std::span<const std::size_t> chunks = pipeline.chunks_of(s, static_cast<std::size_t>(state_.scenario.plan.vpp));
        const ChunkTimes& first = prices.chunk_kinds[chunks.front()];
        if (!prices.is_as_before(s)) {
            all = {};
            for (const std::size_t c : chunks) {
                const ChunkTimes& chunk = prices.chunk_kinds[c];
                all += chunk.forward + chunk.backward + chunk.weights;
            }
        }
        end = max(end, before + static_cast<double>(state_.micro_batches) * all - first.early + after);
        before += first.forward - first.early;
        if (!apart) after += first.backward - first.early_backward - first.late;
    }
    return end;
}

}  // namespace sextant
