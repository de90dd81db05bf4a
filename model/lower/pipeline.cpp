#include "model/lower/rank_writer.hpp"

#include <algorithm>

namespace sextant {

RankWriter::RankWriter(LoweredJob& job, GraphRank rank)
    : job_(job),
      rank_(rank),
      stage_(job.builder.so_far().ranks()[rank].stage),
      order_(job.orders[static_cast<std::size_t>(stage_)]),
      gathered_(static_cast<std::size_t>(job.plan.vpp)) {
    const auto passes = static_cast<std::size_t>(job.plan.vpp) * static_cast<std::size_t>(job.micro_batches);
    crossings_.forward.resize(passes);
    crossings_.backward.resize(passes);
}

Crossings RankWriter::write() {
    for (round_ = 0; round_ < job_.builder.steps; ++round_) {
        at_ = 0;
        if (job_.plan.shards_states() && overlaps_gathers(job_.plan, job_.framework) && !job_.plan.forward_only) gather_for_forward();
        for (; at_ < order_.size(); ++at_) {
            if (order_[at_].kind == WorkKind::forward)
                forward();
            else if (!job_.plan.forward_only)
                backward();
        }
        at_ = order_.size() - 1;
        finish_step();
    }
    return std::move(crossings_);
}

SegmentIndex RankWriter::put(Stream stream, const Work& work, std::optional<CommunicatorIndex> communicator) {
    const WorkItem& item = order_[at_];
    const auto micro_batch = static_cast<std::uint32_t>(round_ * job_.micro_batches + item.micro_batch);
    const SegmentIndex segment = job_.builder.add(
        {job_.builder.work(work), rank_, communicator.value_or(0), micro_batch, static_cast<std::uint16_t>(item.chunk), stream});
    if (stream == Stream::compute) last_compute_ = segment;
    return segment;
}

std::optional<SegmentIndex> RankWriter::collective(Stream stream, const CollectiveWork& work, std::optional<SegmentIndex> after) {
    const auto& communicator = job_.builder.rank(rank_).communicators[work.group];
    if (!communicator || !(work.elements > 0)) return {};
    const SegmentIndex segment = put(stream, work, communicator);
    if (after) job_.builder.wait(segment, *after);
    if (stream == Stream::communication) last_collective_ = segment;
    return segment;
}

const ComputeWork& RankWriter::blocks() const { return job_.virtual_stages[job_.virtual_stage(order_[at_].chunk, stage_)]; }

bool RankWriter::makes_gradients(const WorkItem& item) const {
    return item.chunk == order_[at_].chunk && (item.kind == WorkKind::backward || item.kind == WorkKind::backward_weight);
}

bool RankWriter::ends_gradients() const {
    const auto makes = [this](const WorkItem& item) { return makes_gradients(item); };
    return makes(order_[at_]) && std::none_of(order_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, order_.end(), makes);
}

StepEnds RankWriter::step_ends() const {
    if (!reduces_every_micro_batch(job_.plan, job_.framework)) return {};
    const auto makes = [this](const WorkItem& item) { return makes_gradients(item); };
    return {std::none_of(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(at_), makes), ends_gradients()};
}

// A boundary that was cut over the tensor group comes together again before the first block.
std::optional<SegmentIndex> RankWriter::receive() {
    const WorkItem& item = order_[at_];
    const bool ahead = item.kind == WorkKind::forward;
    const std::size_t virtual_stage = job_.virtual_stage(item.chunk, stage_);
    const bool comes = ahead ? job_.where.is_handed(virtual_stage) : job_.where.hands_on(virtual_stage);
    if (!scatters_boundaries(job_.plan, job_.framework) || !comes) return {};
    const TransferWork& boundary = job_.boundaries[ahead ? virtual_stage - 1 : virtual_stage];
    CollectiveWork gather{ExchangeKind::all_gather, ParallelGroup::tensor, ahead ? Payload::activations : Payload::activation_gradients};
    gather.elements = boundary.elements * job_.plan.tp;
    gather.type = boundary.type;
    return collective(overlaps_pipeline(job_.plan, job_.framework) ? Stream::communication : Stream::compute, gather);
}

SegmentIndex RankWriter::send(bool to_previous, TransferWork transfer, SegmentIndex after) {
    const std::optional<CommunicatorIndex>& peer = (to_previous ? job_.to_previous : job_.to_next)[rank_];
    const Stream stream = to_previous ? Stream::send_previous : Stream::send_next;
    if (!overlaps_pipeline(job_.plan, job_.framework)) return put(Stream::compute, transfer, peer);
    const SegmentIndex segment = put(stream, transfer, peer);
    job_.builder.wait(segment, after);
    return segment;
}

void RankWriter::forward() {
    const WorkItem& item = order_[at_];
    if (job_.input && stage_ == 0 && item.chunk == 0) take_samples();
    if (item.chunk == 0) put(Stream::compute, OverheadWork{});
    ComputeWork work = blocks();
    work.phase = Phase::forward;
    const std::optional<SegmentIndex> arrived = receive();
    Stretch pass;
    if (job_.plan.shards_parameters()) {
        pass = sharded_pass(work);
    } else if (!gathered_[static_cast<std::size_t>(item.chunk)].empty()) {
        pass = forward_behind_gathers(work);
    } else {
        pass.first = pass.last = put(Stream::compute, work);
    }
    if (arrived) job_.builder.wait(pass.first, *arrived);

    const std::size_t virtual_stage = job_.virtual_stage(item.chunk, stage_);
    const bool goes_back = job_.where.goes_back(static_cast<std::size_t>(item.chunk));
    SegmentIndex leave = pass.last;
    if (job_.where.hands_on(virtual_stage)) leave = send(goes_back, job_.boundaries[virtual_stage], pass.last);
    crossings_.forward[job_.crossing(item.chunk, item.micro_batch)] = {arrived.value_or(pass.first), leave};
}

void RankWriter::backward() {
    const WorkItem& item = order_[at_];
    const bool passes_on = item.kind != WorkKind::backward_weight;
    ComputeWork work = blocks();
    work.phase = item.kind == WorkKind::backward         ? Phase::backward
                 : item.kind == WorkKind::backward_input ? Phase::backward_input
                                                         : Phase::backward_weight;
    const std::optional<SegmentIndex> arrived = passes_on ? receive() : std::nullopt;
    const Stretch pass = job_.plan.shards_parameters() ? sharded_pass(work) : backward_with_reduction(work);
    if (!passes_on) return;
    if (arrived) job_.builder.wait(pass.first, *arrived);

    const std::size_t virtual_stage = job_.virtual_stage(item.chunk, stage_);
    const bool goes_back = job_.where.goes_back(static_cast<std::size_t>(item.chunk));
    SegmentIndex leave = pass.last;
    if (job_.where.is_handed(virtual_stage)) {
        TransferWork gradients = job_.boundaries[virtual_stage - 1];
        gradients.payload = Payload::activation_gradients;
        leave = send(!goes_back, gradients, pass.last);
    }
    crossings_.backward[job_.crossing(item.chunk, item.micro_batch)] = {arrived.value_or(pass.first), leave};
}

}  // namespace sextant
