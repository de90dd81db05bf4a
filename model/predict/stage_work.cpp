#include "model/predict/stage_work.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>

namespace sextant {
namespace {

// All blocks of the stage together.
SegmentPrice sum_of_blocks(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments) {
    const StageBlocks& blocks = job.stages[stage];
    const bool apart = weights_apart(job.scenario.plan.schedule) != WeightsApart::in_none;
    SegmentPrice all;
    for (std::size_t t = 0; t < segments.size(); ++t) {
        const double n = blocks.count[t];
        if (n == 0) continue;
        all.forward += n * segments[t].forward;
        all.backward += n * segments[t].backward;
        if (apart) all.weights += n * segments[t].weights;
        const double recomputed = recomputed_blocks(job.chunks[stage], blocks, t);
        if (recomputed == 0) continue;
        all.recompute += recomputed * segments[t].recompute;
        all.forward += recomputed * segments[t].checkpoint;
    }
    return all;
}

// Where stages share nodes, an exchange meets those of the other stages for the fraction of the time in which they go on: the same fraction
// as its own, except for the first micro-batch, which is on one stage only. The longer exchanges take, the more they meet.
ByInLayer<double> beside_other_stages(const Prepared::State& job, std::size_t stage, const SegmentPrice& blocks) {
    const ByInLayer<double>& beside = job.groups.mates[stage].in_layers;
    ByInLayer<double> times{{1, 1, 1}};
    if (beside == times) return times;
    const PhasePrice all = blocks.forward + blocks.backward + blocks.recompute;
    const double others = 1 - 1 / static_cast<double>(job.micro_batches);
    constexpr int rounds = 3;  // each comes closer to times that agree with the period which they make
    for (int round = 0; round < rounds; ++round) {
        const Seconds period = all.stretched(times).time();
        for (const InLayer kind : all_in_layer)
            times[kind] = 1 + (beside[kind] - 1) * others * std::min(1.0, times[kind] * all.links(kind) / period);
    }
    return times;
}

SegmentPrice stretched(const SegmentPrice& s, const ByInLayer<double>& times) {
    return {s.forward.stretched(times), s.backward.stretched(times), s.recompute.stretched(times), s.weights.stretched(times),
            s.checkpoint};
}

// A phase as a stretch of work of one stage. The host of a stage that others wait for is treated separately.
class StretchOfWork {
public:
    StretchOfWork(const Prepared::State& job, std::size_t stage) : alone_(job.scenario.plan.pp == 1) {
        const ByInLayer<Slowed>& beside_data = job.groups[stage].beside_data;
        for (const InLayer kind : all_in_layer) {
            longer_[kind] = beside_data[kind].one - 1;
            holds_up_[kind] = beside_data[kind].one * (1 - 1 / beside_data[kind].other);
        }
    }
    OwnWork of(const PhasePrice& p) const {
        OwnWork work{p.device, p.exchanges() + p.copies, alone_ ? p.host : Seconds{}, {}, {}};
        for (const InLayer kind : all_in_layer) {
            work.longer += longer_[kind] * p.flowing[kind];
            work.holds_up += holds_up_[kind] * p.links(kind);
        }
        return work;
    }

private:
    bool alone_;
    ByInLayer<double> longer_, holds_up_;
};

// A pass whose host starts together with it takes at least as long as the host. The difference is shared among
// blocks by how much they have to issue.
class WaitForHost {
public:
    WaitForHost() = default;
    explicit WaitForHost(const PhasePrice& pass) : longer_(max(Seconds{}, pass.host - pass.time())), host_(pass.host) {}
    [[nodiscard]] Seconds longer() const { return longer_; }
    void add(OwnWork& work, const PhasePrice& part) const {
        if (longer_ > Seconds{}) work.rest += part.host / host_ * longer_;
    }

private:
    Seconds longer_, host_;
};

}  // namespace

std::vector<KernelTimes> kernel_times(const Prepared::State& job, const Resources& r) {
    std::vector<KernelTimes> times;
    for (const BlockKernels& k : job.templates) times.push_back(kernel_times(k, job, r));
    return times;
}

std::vector<SegmentPrice> price_blocks(const Prepared::State& job, std::span<const KernelTimes> times, const JobGroups& groups,
                                       const Resources& r) {
    std::vector<SegmentPrice> segments;
    segments.reserve(times.size());
    for (std::size_t t = 0; t < times.size(); ++t) segments.push_back(price_block(job.templates[t], times[t], job, groups, r));
    return segments;
}

// The smallest part into which the framework cuts activations that stages send: what was scattered is gathered again afterwards.
SendTimes::SendTimes(const Prepared::State& job, const Resources& r)
    : templates_(job.templates.size()), to_next_(job.stages.size() * templates_), to_previous_(to_next_.size()) {
    const Plan& plan = job.scenario.plan;
    const std::size_t stages = job.stages.size();
    const bool scatters = scatters_boundaries(plan, job.scenario.framework);
    std::vector<Seconds> gathers(job.groups.kinds.size());
    for (std::size_t t = 0; t < templates_; ++t) {
        const Bytes all = job.templates[t].boundary, part = scatters ? all / plan.tp : all;
        const CollectivePrice price = group_price(Collective::send, part, job.groups.send, job, r);
        for (std::size_t g = 0; scatters && g < gathers.size(); ++g)
            gathers[g] = group_time(Collective::all_gather, all, job.groups.kinds[g][ParallelGroup::tensor], job, r);
        for (std::size_t s = 0; s < stages; ++s) {
            const std::size_t next = (s + 1) % stages;
            const Seconds time = time_alone(price, job.groups.boundaries[s]);
            to_next_[s * templates_ + t] = time + gathers[job.groups.kind_of[next]];
            to_previous_[next * templates_ + t] = time + gathers[job.groups.kind_of[s]];
        }
    }
}

StageWork stage_work(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments) {
    StageWork work;
    work.all = sum_of_blocks(job, stage, segments);
    const ByInLayer<double> times = beside_other_stages(job, stage, work.all);
    const bool meets = times != ByInLayer<double>{{1, 1, 1}};
    if (meets) work.all = stretched(work.all, times);
    const StretchOfWork own(job, stage);
    work.forward = own.of(work.all.forward);
    work.backward = own.of(work.all.backward) + own.of(work.all.recompute);
    work.weights = own.of(work.all.weights);
    WaitForHost forward, backward;
    if (waits_for_transfers(job.scenario.plan, job.scenario.framework)) {
        forward = WaitForHost(work.all.forward);
        backward = WaitForHost(work.all.backward + work.all.recompute);
        work.launch = forward.longer() + backward.longer();
        work.forward.rest += forward.longer();
        work.backward.rest += backward.longer();
    }
    work.passes.reserve(segments.size());
    for (std::size_t t = 0; t < segments.size(); ++t) {
        StageWork::Passes& passes = work.passes.emplace_back();
        if (job.stages[stage].count[t] == 0) continue;
        const std::optional<SegmentPrice> longer = meets ? std::optional(stretched(segments[t], times)) : std::nullopt;
        const SegmentPrice& block = longer ? *longer : segments[t];
        passes = {own.of(block.forward), {}, own.of(block.backward), own.of(block.recompute), own.of(block.weights)};
        forward.add(passes.forward, block.forward);
        passes.checkpointed = passes.forward;
        passes.checkpointed += own.of(block.checkpoint);
        forward.add(passes.checkpointed, block.checkpoint);
        backward.add(passes.backward, block.backward);
        backward.add(passes.recompute_and_backward, block.recompute);
        if (weights_apart(job.scenario.plan.schedule) == WeightsApart::in_all) passes.backward = passes.backward - passes.weights;
        passes.recompute_and_backward += passes.backward;
    }
    return work;
}

}  // namespace sextant
