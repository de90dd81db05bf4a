#include "model/lower/rank_writer.hpp"

namespace sextant {

Stream RankWriter::shard_stream() const { return overlaps_gathers(job_.plan, job_.framework) ? Stream::communication : Stream::compute; }

// Weights are gathered `prefetch_blocks` blocks ahead of their use: any further, and memory would fill with them.
std::optional<SegmentIndex> RankWriter::gather_block(int block) {
    const std::size_t ahead = 1 + static_cast<std::size_t>(job_.framework.prefetch_blocks);
    const Stream stream = shard_stream();
    std::optional<SegmentIndex> after;
    if (stream == Stream::communication && uses_.size() >= ahead) after = uses_[uses_.size() - ahead].compute;
    const Bucket weights = weights_of(block, job_.parameters[static_cast<std::size_t>(block)]);
    std::optional<SegmentIndex> fetched;
    if (job_.plan.offloads_parameters()) {
        const double held = (1 - job_.plan.pruned_fraction) * held_parameters(weights.dense, weights.expert, job_.plan, true);
        fetched = host_copy(stream, {Offloaded::weights, stage_, held, size_of(job_.precision.parameter), {}, block}, after);
    }
    const std::optional<SegmentIndex> gathered = gather_weights(stream, weights, after);
    return gathered ? gathered : fetched;
}

// Gradients of the uses before `use`, as far as they are not scattered yet.
void RankWriter::scatter_until(std::size_t use) {
    for (; scattered_ < use; ++scattered_) {
        Use& done = uses_[scattered_];
        if (!done.ends_gradients) continue;
        const BlockParameters& p = job_.parameters[static_cast<std::size_t>(done.block)];
        done.scatter = reduce_gradients(shard_stream(), gradients_of(done.block, p), done.step_ends, done.compute);
    }
}

// Where nothing hides scatters, each use waits for that of the use before it; its weights may be on their way.
void RankWriter::wait_for_scatters() {
    if (shard_stream() == Stream::compute || overlaps_scatters(job_.plan, job_.framework)) return;
    for (std::size_t use = 1; use < uses_.size(); ++use)
        if (const auto& scatter = uses_[use - 1].scatter) job_.builder.wait(uses_[use].compute, *scatter);
}

Stretch RankWriter::sharded_pass(const ComputeWork& work) {
    const bool ahead = work.phase == Phase::forward;
    const bool gathers = ahead || job_.framework.reshards_after_forward;
    const bool every = reduces_every_micro_batch(job_.plan, job_.framework);
    const bool makes_gradients = work.phase == Phase::backward || work.phase == Phase::backward_weight;
    const bool scatters = makes_gradients && (every || ends_gradients());
    const std::size_t lag = overlaps_gathers(job_.plan, job_.framework) ? static_cast<std::size_t>(job_.framework.prefetch_blocks) : 0;
    const StepEnds ends = scatters ? step_ends() : StepEnds{};
    std::optional<Stretch> pass;
    for (int i = 0; i < work.count; ++i) {
        const int block = work.first_block + (ahead ? i : work.count - 1 - i);
        if (uses_.size() > lag) scatter_until(uses_.size() - lag);
        const std::optional<SegmentIndex> gathered = gathers ? gather_block(block) : std::nullopt;
        const SegmentIndex compute = put(Stream::compute, ComputeWork{work.phase, block, 1});
        if (gathered) job_.builder.wait(compute, *gathered);
        uses_.push_back({compute, block, scatters, ends});
        pass = {pass ? pass->first : compute, compute};
    }
    return *pass;
}

}  // namespace sextant
