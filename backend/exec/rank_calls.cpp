// What a rank calls for each segment of its own that communicates.
#include "backend/exec/rank_runner.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sextant {

std::vector<Call> RankRunner::calls_of(SegmentIndex s) {
    const Segment& segment = job_.graph.segments()[s];
    return std::visit([&](const auto& work) { return calls(s, segment, work); }, job_.graph.works()[segment.work]);
}

std::vector<Call> RankRunner::calls(SegmentIndex s, const Segment& segment, const TransferWork& work) {
    if (servers_) return work.payload == Payload::weights ? servers_->pull() : servers_->push(s);
    Arrays& values = passing(work.payload, segment);
    const GraphRank peer = job_.graph.communicators()[segment.communicator].members[1];
    const TensorCut cut = cut_of_boundaries();
    std::vector<Call> calls;
    for (const Array& a : values) {
        const std::int64_t part = a.elements / cut.ranks;
        calls.emplace_back(MessageCall{job_.graph.ranks()[peer].rank, tag_of(s, calls.size()), false, a.part(cut.rank * part, part)});
    }
    values.clear();
    return calls;
}

std::vector<Call> RankRunner::calls(SegmentIndex s, const Segment& segment, const CollectiveWork& work) {
    std::vector<Call> calls;
    const std::vector<Operands> operands = work.group == ParallelGroup::tensor ? arrived_parts(s) : operands_of_runs(s, segment, work);
    calls.reserve(operands.size());
    for (const auto& [from, to] : operands) calls.emplace_back(CollectiveCall{work.kind, segment.communicator, segment.stream, from, to});
    return calls;
}

// What transfers brought in parts, and where it belongs whole.
std::vector<RankRunner::Operands> RankRunner::arrived_parts(SegmentIndex s) {
    std::vector<Operands> operands;
    for (const SegmentIndex before : job_.graph.waits_for(s)) {
        const Arrays parts = std::exchange(arriving_[before], {});
        for (std::size_t i = 0; i < parts.size(); ++i) operands.push_back({parts[i], arriving_[s][i]});
    }
    return operands;
}

// Weights or gradients of some blocks. Shards go block by block, which needs no copies: the parts of one block lie one behind another.
std::vector<RankRunner::Operands> RankRunner::operands_of_runs(SegmentIndex s, const Segment& segment, const CollectiveWork& work) {
    const ParallelGroup group = job_.graph.communicators()[segment.communicator].group;
    const auto of = group == ParallelGroup::expert_data ? &HeldBlock::experts : &HeldBlock::dense;
    if (work.kind == ExchangeKind::all_reduce && !flow_.sharded) return whole_gradients(work, of);
    std::vector<Operands> operands;
    for (auto& [b, held] : memory_.blocks()) {
        const bool all = work.count == 0;  // weights, once all are updated
        ParameterRun& run = held.*of;
        if (!all && (b < work.first_block || b >= work.first_block + work.count)) continue;
        if (work.payload == Payload::weights && flow_.sharded_parameters)
            std::ranges::copy(weights_for_use(s, held, of), std::back_inserter(operands));
        else if (run.elements > 0)
            operands.push_back(work.payload == Payload::weights ? Operands{run.owned, run.weights}
                                                                : sharded_gradients(run, group, work.kind));
    }
    return operands;
}

// Gradients of neighbouring blocks lie one behind another, and are cut into as many equal parts as there are calls.
std::vector<RankRunner::Operands> RankRunner::whole_gradients(const CollectiveWork& work, ParameterRun HeldBlock::*of) {
    const Array run = memory_.gradient_run(work.first_block, work.count, of);
    std::vector<Operands> operands;
    for (int i = 0; i < work.calls; ++i) {
        const std::int64_t begin = run.elements * i / work.calls, end = run.elements * (i + 1) / work.calls;
        const Array part = run.part(begin, end - begin);
        operands.push_back({part, part});
    }
    return operands;
}

// ZeRO-3: makes room for the weights of a block until its pass is over; frozen ones lie behind the dense.
std::vector<RankRunner::Operands> RankRunner::weights_for_use(SegmentIndex gather, const HeldBlock& held, ParameterRun HeldBlock::*of) {
    const bool dense = of == &HeldBlock::dense;
    const ParameterRun& run = held.*of;
    const std::int64_t frozen = dense ? held.frozen.elements : 0;
    Array fetched = std::exchange(dense ? fetched_.dense : fetched_.experts, {});
    const Array whole = gathered_[gather] = fetched ? fetched : device_.allocate(run.elements + frozen, job_.element());
    const Array trained = whole.part(0, run.elements), behind = whole.part(run.elements, frozen);
    std::vector<Operands> operands;
    if (run.elements > 0) operands.push_back({run.given_to(trained), trained});
    if (frozen > 0) operands.push_back({held.frozen.given_to(behind), behind});
    return operands;
}

// Reduced in place: a part over its replicas, or all of a run, of which this rank updates with its part.
RankRunner::Operands RankRunner::sharded_gradients(const ParameterRun& run, ParallelGroup group, ExchangeKind kind) {
    const Array part = run.owned_in(run.gradients);
    if (group == ParallelGroup::replicas) return {part, part};
    return {run.gradients, kind == ExchangeKind::reduce_scatter ? part : run.gradients};
}

}  // namespace sextant
