#include "model/predict/stage_work.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>

namespace sextant {
namespace {

// All blocks of the stage together.
SegmentPrice sum_of_blocks(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments) {
    const StageBlocks& blocks = job.stages[stage];
    SegmentPrice all;
    for (std::size_t t = 0; t < segments.size(); ++t) {
        const double n = blocks.count[t];
        if (n == 0) continue;
        all.forward += n * segments[t].forward;
        all.backward += n * segments[t].backward;
        if (job.scenario.plan.schedule == Schedule::zero_bubble) all.weights += n * segments[t].weights;
        const bool again = job.roles[t] == BlockRole::layer && blocks.recomputed_layers > 0;
        if (again) all.recompute += n * blocks.recomputed_layers / blocks.layers * segments[t].recompute;
    }
    return all;
}

// Where stages share nodes, an exchange meets those of the others as often as these go on: as often as it does itself, but for the first
// micro-batch, which is on one stage only. The longer exchanges take, the more they meet.
std::array<double, 3> beside_other_stages(const Prepared::State& job, std::size_t stage, const SegmentPrice& blocks) {
    const std::array<double, 3>& beside = job.groups.mates[stage].in_layers;
    std::array<double, 3> times{1, 1, 1};
    if (beside == times) return times;
    const PhasePrice all = blocks.forward + blocks.backward + blocks.recompute;
    const double others = 1 - 1 / static_cast<double>(job.micro_batches);
    for (int i = 0; i < 3; ++i) {
        const Seconds period = all.stretched(times).time();
        for (std::size_t g = 0; g < times.size(); ++g)
            times[g] = 1 + (beside[g] - 1) * others * std::min(1.0, times[g] * all.links(g) / period);
    }
    return times;
}

SegmentPrice stretched(const SegmentPrice& s, const std::array<double, 3>& times) {
    return {s.forward.stretched(times), s.backward.stretched(times), s.recompute.stretched(times), s.weights.stretched(times)};
}

// The host of a stage that others wait for is looked at apart.
OwnWork own(const PhasePrice& p, const Prepared::State& job, std::size_t stage) {
    OwnWork work{p.device, p.exchanges(), job.scenario.plan.pp == 1 ? p.host : Seconds{}, {}, {}};
    const std::array<Slowed, 3>& beside_data = job.groups[stage].beside_data;
    for (std::size_t i = 0; i < beside_data.size(); ++i) {
        work.longer += (beside_data[i].one - 1) * p.flowing[i];
        work.holds_up += beside_data[i].one * (1 - 1 / beside_data[i].other) * p.links(i);
    }
    return work;
}

// From a stage to the next one: the smallest cut of the activations that the framework makes of them.
class Sends {
public:
    Sends(const Prepared::State& job, const Resources& r)
        : job_(job), r_(r), scatters_(job.scenario.framework.scatters_pipeline && !plan().sequence_parallel && plan().tp > 1) {}

    std::vector<std::vector<Seconds>> times() const {
        std::vector<std::vector<Seconds>> of_stages(job_.stages.size());
        for (const BlockKernels& k : job_.templates) {
            const Bytes part = scatters_ ? k.boundary / plan().tp : k.boundary;
            const CollectivePrice price = group_price(Collective::send, part, job_.groups.send, job_, r_);
            const std::vector<Seconds> gathers = gathers_of(k.boundary);
            for (std::size_t s = 0; s < of_stages.size(); ++s) {
                const std::size_t next = (s + 1) % of_stages.size();
                of_stages[s].push_back(time_alone(price, job_.groups.boundaries[s]) + gathers[job_.groups.which[next]]);
            }
        }
        return of_stages;
    }

private:
    [[nodiscard]] const Plan& plan() const { return job_.scenario.plan; }
    // By unlike groups: what was scattered comes together again.
    [[nodiscard]] std::vector<Seconds> gathers_of(Bytes boundary) const {
        std::vector<Seconds> gathers;
        for (const JobGroups& g : job_.groups.unlike)
            gathers.push_back(scatters_ ? group_time(Collective::all_gather, boundary, g.tensor, job_, r_) : Seconds{});
        return gathers;
    }

    const Prepared::State& job_;
    const Resources& r_;
    bool scatters_;
};

}  // namespace

std::vector<KernelTimes> kernel_times(const Prepared::State& job, const Resources& r) {
    std::vector<KernelTimes> times;
    for (const BlockKernels& k : job.templates) times.push_back(kernel_times(k, job, r));
    return times;
}

BlockPrices price_blocks(const Prepared::State& job, std::span<const KernelTimes> times, const Resources& r) {
    BlockPrices prices;
    prices.segments.reserve(job.groups.unlike.size() * job.templates.size());
    for (const JobGroups& groups : job.groups.unlike)
        for (std::size_t t = 0; t < job.templates.size(); ++t)
            prices.segments.push_back(price_block(job.templates[t], times[t], job, groups, r));
    if (job.scenario.plan.pp > 1) prices.sends = Sends(job, r).times();
    return prices;
}

StageWork stage_work(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments) {
    StageWork work;
    work.all = sum_of_blocks(job, stage, segments);
    const std::array<double, 3> times = beside_other_stages(job, stage, work.all);
    work.all = stretched(work.all, times);
    work.ahead = own(work.all.forward, job, stage);
    work.back = own(work.all.backward, job, stage) + own(work.all.recompute, job, stage);
    work.passes.reserve(segments.size());
    for (std::size_t t = 0; t < segments.size(); ++t) {
        StageWork::Passes& passes = work.passes.emplace_back();
        if (job.stages[stage].count[t] == 0) continue;
        const SegmentPrice block = stretched(segments[t], times);
        const OwnWork back = own(block.backward, job, stage);
        passes = {own(block.forward, job, stage),
                  back,
                  back + own(block.recompute, job, stage),
                  own(block.weights, job, stage),
                  block.forward.time(),
                  block.backward.time(),
                  block.recompute.time(),
                  block.weights.time()};
    }
    return work;
}

}  // namespace sextant
