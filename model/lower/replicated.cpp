#include "model/lower/rank_writer.hpp"

#include <algorithm>

namespace sextant {

void RankWriter::reduce(const Bucket& bucket, Stream stream, StepEnds at, std::optional<SegmentIndex> after) {
    if (job_.plan.has_servers())
        push(bucket, stream, after);
    else
        reduce_gradients(stream, bucket, at, after);
}

CollectiveWork RankWriter::exchange_of(const DataExchange& e, Payload payload, const Bucket& bucket) const {
    const DataType type = payload == Payload::weights ? job_.precision.parameter : job_.precision.reduction_type();
    return {e.kind, e.group, payload, e.elements, type, e.calls, bucket.first_block, bucket.count};
}

std::optional<SegmentIndex> RankWriter::reduce_gradients(Stream stream, const Bucket& bucket, StepEnds at,
                                                         std::optional<SegmentIndex> after) {
    std::optional<SegmentIndex> last;
    for (const DataExchange& e : gradient_exchanges(job_.plan, job_.framework, job_.bucket_rule, bucket))
        if (const auto segment = collective(stream, exchange_of(e, Payload::gradients, bucket), after)) last = segment;
    const double owned = held_parameters(bucket.dense, bucket.expert, job_.plan, job_.plan.has_shards());
    if (!offloads_gradients(job_.plan, job_.framework) || !(owned > 0)) return last;
    const GradientCopy copy = gradient_copy(job_.plan, job_.framework, job_.precision, at);
    return host_copy(stream, {Offloaded::gradients, stage_, owned, copy.over_link, copy.in_host_memory}, after);
}

SegmentIndex RankWriter::host_copy(Stream stream, const OffloadWork& work, std::optional<SegmentIndex> after) {
    const SegmentIndex segment = put(stream, work);
    if (after) job_.builder.wait(segment, *after);
    if (stream == Stream::communication) last_collective_ = segment;
    return segment;
}

std::optional<SegmentIndex> RankWriter::gather_weights(Stream stream, const Bucket& bucket, std::optional<SegmentIndex> after) {
    std::optional<SegmentIndex> last;
    for (const DataExchange& e : weight_gathers(job_.plan, job_.framework, bucket))
        if (const auto segment = collective(stream, exchange_of(e, Payload::weights, bucket), after)) last = segment;
    return last;
}

Stretch RankWriter::backward_with_reduction(const ComputeWork& work) {
    const bool every = reduces_every_micro_batch(job_.plan, job_.framework);
    const bool reduces = every ? work.phase != Phase::backward_input : ends_gradients();
    const bool alone = job_.layout.size_of(ParallelGroup::data) < 2 && job_.layout.size_of(ParallelGroup::expert_data) < 2;
    if (!reduces || (alone && !job_.plan.has_servers() && !offloads_gradients(job_.plan, job_.framework))) {
        const SegmentIndex whole = put(Stream::compute, work);
        return {whole, whole};
    }
    const StepEnds ends = step_ends();
    const std::vector<Bucket> buckets = reduces_by_block(job_.plan, job_.framework)
                                            ? one_block_each(job_.parameters, work.first_block, work.count)
                                            : job_.bucket_rule.buckets(job_.parameters, work.first_block, work.count);
    if (overlaps_gradients(job_.plan, job_.framework)) {
        Stretch pass{job_.builder.next(), 0};
        for (const Bucket& bucket : buckets) {
            pass.last = put(Stream::compute, ComputeWork{work.phase, bucket.first_block, bucket.count});
            reduce(bucket, Stream::communication, ends, pass.last);
        }
        return pass;
    }
    const SegmentIndex whole = put(Stream::compute, work);
    unreduced_.insert(unreduced_.end(), buckets.begin(), buckets.end());
    if (every) {
        for (const Bucket& bucket : unreduced_) reduce(bucket, Stream::compute, ends, {});
        unreduced_.clear();
    }
    return {whole, whole};
}

// Weights that the step before updated arrive behind the first forward.
void RankWriter::gather_for_forward() {
    if (job_.layout.size_of(ParallelGroup::shard) < 2 && job_.layout.size_of(ParallelGroup::expert_data) < 2) return;
    for (int chunk = 0; chunk < job_.plan.vpp; ++chunk) {
        const ComputeWork& blocks = job_.virtual_stages[job_.virtual_stage(chunk, stage_)];
        std::vector<Bucket> buckets = gathers_by_block(job_.framework)
                                          ? one_block_each(job_.parameters, blocks.first_block, blocks.count)
                                          : job_.bucket_rule.buckets(job_.parameters, blocks.first_block, blocks.count);
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
            all.tensors += job_.parameters[static_cast<std::size_t>(b)].tensors;
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
        for (const Bucket& bucket : unreduced_) reduce(bucket, Stream::compute, {}, {});
        unreduced_.clear();
        if (plan.has_servers()) pull();
        if (plan.updates_weights())
            put(Stream::compute, updates_on_host(plan) ? Work{OffloadWork{Offloaded::update, stage_}} : Work{UpdateWork{stage_}});
        if (job_.plan.shards_states() && !overlaps_gathers(job_.plan, job_.framework)) gather_updated_weights();
    }
    put(Stream::compute, OverheadWork{true});
    if (last_collective_) job_.builder.wait(end, *last_collective_);
}

}  // namespace sextant
