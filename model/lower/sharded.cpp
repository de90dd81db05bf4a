#include "model/lower/rank_writer.hpp"

namespace sextant {

Stream RankWriter::shard_stream() const { return overlaps_gathers(job_.plan, job_.framework) ? Stream::communication : Stream::compute; }

// Weights are gathered `prefetch_blocks` blocks ahead of their use: any further, and memory would fill with them.
std::optional<SegmentIndex> RankWriter::gather_block(int block) {
    const std::size_t ahead = 1 + static_cast<std::size_t>(job_.framework.prefetch_blocks);
    const Stream stream = shard_stream();
    std::optional<SegmentIndex> after;
    if (stream == Stream::communication && uses_.size() >= ahead) after = uses_[uses_.size() - ahead].compute;
    const BlockParameters& p = job_.parameters[static_cast<std::size_t>(block)];
    const ParameterCount all = p.trained + p.frozen;
    return gather_weights(stream, {block, 1, all.dense, all.expert, p.tensors}, after);
}

// Gradients of the uses before `use`, as far as they are not scattered yet. Where a shard has replicas, they are summed over these.
void RankWriter::scatter_until(std::size_t use) {
    for (; scattered_ < use; ++scattered_) {
        Use& done = uses_[scattered_];
        if (!done.ends_gradients) continue;
        const ParameterCount& p = job_.parameters[static_cast<std::size_t>(done.block)].trained;
        CollectiveWork work{ExchangeKind::reduce_scatter, ParallelGroup::shard, Payload::gradients};
        work.type = job_.precision.reduction_type();
        work.first_block = done.block;
        work.count = 1;
        const auto over = [&](ParallelGroup group, double elements) {
            work.group = group;
            work.elements = elements;
            if (const auto scatter = collective(shard_stream(), work, done.compute)) done.scatter = scatter;
        };
        over(ParallelGroup::shard, p.dense);
        over(ParallelGroup::expert_data, p.expert);
        work.kind = ExchangeKind::all_reduce;
        over(ParallelGroup::replicas, p.dense / job_.plan.shard_ranks());
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
    std::optional<Stretch> pass;
    for (int i = 0; i < work.count; ++i) {
        const int block = work.first_block + (ahead ? i : work.count - 1 - i);
        if (uses_.size() > lag) scatter_until(uses_.size() - lag);
        const std::optional<SegmentIndex> gathered = gathers ? gather_block(block) : std::nullopt;
        const SegmentIndex compute = put(Stream::compute, ComputeWork{work.phase, block, 1});
        if (gathered) job_.builder.wait(compute, *gathered);
        uses_.push_back({compute, block, scatters});
        pass = {pass ? pass->first : compute, compute};
    }
    return *pass;
}

}  // namespace sextant
