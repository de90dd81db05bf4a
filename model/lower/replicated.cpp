#include "model/lower/rank_writer.hpp"

#include <algorithm>

namespace sextant {

void RankWriter::reduce(const Bucket& bucket, Stream stream, std::optional<SegmentIndex> after) {
    if (job_.plan.has_servers()) return push(bucket, stream, after);
    const bool shards = job_.plan.shards_states();
    CollectiveWork work;
    work.kind = shards ? ExchangeKind::reduce_scatter : ExchangeKind::all_reduce;
    work.payload = Payload::gradients;
    work.type = job_.precision.reduction_type();
    work.first_block = bucket.first_block;
    work.count = bucket.count;
    const auto over = [&](ParallelGroup group, double elements) {
        work.group = group;
        work.elements = elements;
        work.calls = job_.bucket_rule.calls(elements, bucket.tensors);
        collective(stream, work, after);
    };
    over(shards ? ParallelGroup::shard : ParallelGroup::data, bucket.dense);
    over(ParallelGroup::expert_data, bucket.expert);
    if (!shards) return;
    work.kind = ExchangeKind::all_reduce;
    over(ParallelGroup::replicas, bucket.dense / job_.plan.shard_ranks());
}

std::optional<SegmentIndex> RankWriter::gather_weights(Stream stream, const Bucket& bucket, std::optional<SegmentIndex> after) {
    CollectiveWork work{ExchangeKind::all_gather, ParallelGroup::shard, Payload::weights};
    work.type = job_.precision.parameter;
    work.first_block = bucket.first_block;
    work.count = bucket.count;
    const auto over = [&](ParallelGroup group, double elements) {
        work.group = group;
        work.elements = elements * (1 - job_.plan.pruned_fraction);
        return collective(stream, work, after);
    };
    const auto dense = over(ParallelGroup::shard, bucket.dense);
    const auto expert = over(ParallelGroup::expert_data, bucket.expert);
    return expert ? expert : dense;
}

Stretch RankWriter::backward_with_reduction(const ComputeWork& work) {
    const bool every = reduces_every_micro_batch(job_.plan, job_.framework);
    const bool reduces = every ? work.phase != Phase::backward_input : ends_gradients();
    const bool alone = job_.layout.size_of(ParallelGroup::data) < 2 && job_.layout.size_of(ParallelGroup::expert_data) < 2;
    if (!reduces || (alone && !job_.plan.has_servers())) {
        const SegmentIndex whole = put(Stream::compute, work);
        return {whole, whole};
    }
    // A framework that fuses by time decides while the step runs which blocks share an exchange.
    const bool by_time = overlaps_gradients(job_.plan, job_.framework) && job_.framework.reduction_cycle;
    const std::vector<Bucket> buckets = by_time || job_.plan.has_servers()
                                            ? one_block_each(job_.parameters, work.first_block, work.count)
                                            : job_.bucket_rule.buckets(job_.parameters, work.first_block, work.count);
    if (overlaps_gradients(job_.plan, job_.framework)) {
        Stretch pass{job_.builder.next(), 0};
        for (const Bucket& bucket : buckets) {
            pass.last = put(Stream::compute, ComputeWork{work.phase, bucket.first_block, bucket.count});
            reduce(bucket, Stream::communication, pass.last);
        }
        return pass;
    }
    const SegmentIndex whole = put(Stream::compute, work);
    unreduced_.insert(unreduced_.end(), buckets.begin(), buckets.end());
    if (every) {
        for (const Bucket& bucket : unreduced_) reduce(bucket, Stream::compute, {});
        unreduced_.clear();
    }
    return {whole, whole};
}

// Weights that the step before updated arrive behind the first forward.
void RankWriter::gather_for_forward() {
    if (job_.layout.size_of(ParallelGroup::shard) < 2 && job_.layout.size_of(ParallelGroup::expert_data) < 2) return;
    for (int chunk = 0; chunk < job_.plan.vpp; ++chunk) {
        const ComputeWork& blocks = job_.virtual_stages[job_.virtual_stage(chunk, stage_)];
        std::vector<Bucket> buckets = job_.framework.bucket ? job_.bucket_rule.buckets(job_.parameters, blocks.first_block, blocks.count)
                                                            : one_block_each(job_.parameters, blocks.first_block, blocks.count);
        std::reverse(buckets.begin(), buckets.end());
        for (const Bucket& bucket : buckets)
            gathered_[static_cast<std::size_t>(chunk)].push_back({bucket, gather_weights(Stream::communication, bucket)});
    }
}

Stretch RankWriter::forward_behind_gathers(const ComputeWork& work) {
    std::vector<Gathered>& gathered = gathered_[static_cast<std::size_t>(order_[at_].chunk)];
    Stretch pass{job_.builder.next(), 0};
    for (const Gathered& weights : gathered) {
        pass.last = put(Stream::compute, ComputeWork{work.phase, weights.bucket.first_block, weights.bucket.count});
        if (weights.by) job_.builder.wait(pass.last, *weights.by);
    }
    gathered.clear();
    return pass;
}

// Updated weights, gathered while nothing else goes on.
void RankWriter::gather_updated_weights() {
    Bucket all;
    for (int chunk = 0; chunk < job_.plan.vpp; ++chunk) {
        const ComputeWork& blocks = job_.virtual_stages[job_.virtual_stage(chunk, stage_)];
        for (int b = blocks.first_block; b < blocks.first_block + blocks.count; ++b) {
            all.dense += job_.parameters[static_cast<std::size_t>(b)].trained.dense;
            all.expert += job_.parameters[static_cast<std::size_t>(b)].trained.expert;
        }
    }
    gather_weights(Stream::compute, all);
}

void RankWriter::finish_step() {
    const Plan& plan = job_.plan;
    scatter_until(uses_.size());
    wait_for_scatters();
    const SegmentIndex end = job_.builder.next();
    if (!plan.forward_only) {
        for (const Bucket& bucket : unreduced_) reduce(bucket, Stream::compute, {});
        unreduced_.clear();
        if (job_.plan.has_servers())
            pull();
        else if (!plan.without_optimizer)
            put(Stream::compute, plan.offload != Offload::none ? Work{OffloadWork{stage_, false}} : Work{UpdateWork{stage_}});
        if (job_.plan.shards_states() && !overlaps_gathers(job_.plan, job_.framework)) gather_updated_weights();
    }
    put(Stream::compute, OverheadWork{true});
    if (last_collective_) job_.builder.wait(end, *last_collective_);
}

}  // namespace sextant
