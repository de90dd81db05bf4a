#include "model/predict/stage_price.hpp"

#include "model/plan/framework_defaults.hpp"

#include <algorithm>
#include <optional>

namespace sextant {
namespace {

// From a chunk of one stage to the next stage: the smallest cut of the activations that the framework makes of them.
Seconds send_time(const Prepared::State& job, std::size_t stage, std::size_t chunk, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const bool scatters = job.scenario.framework.scatters_pipeline && !plan.sequence_parallel && plan.tp > 1;
    const ChunkBlocks& from = job.chunks[stage][chunk];
    const Bytes boundary = job.templates[static_cast<std::size_t>(from.blocks.back().block_template)].boundary;
    const CollectivePrice price = group_price(Collective::send, scatters ? boundary / plan.tp : boundary, job.groups.send, job, r);
    const Seconds send = time_alone(price, job.groups.boundaries[stage]);
    const std::size_t next = (stage + 1) % job.stages.size();
    return scatters ? send + group_time(Collective::all_gather, boundary, job.groups[next].tensor, job, r) : send;
}

// What one stage sends for each micro-batch: ahead from all chunks but the very last; back as much as the stage before it sends ahead. The
// first stage is behind the last where chunks go round.
void price_sends(StagePrice& price, const Prepared::State& job, std::size_t stage, const StagePrice* before, const Resources& r) {
    const std::size_t last = job.stages.size() - 1, chunks = job.chunks[stage].size();
    for (std::size_t c = 0; c < chunks; ++c)
        if (stage < last || c + 1 < chunks) price.send_ahead += send_time(job, stage, c, r);
    if (!job.scenario.plan.forward_only) {
        if (before) price.send_back = before->send_ahead;
        for (std::size_t c = 1; !before && c < chunks; ++c) price.send_back += send_time(job, last, c - 1, r);
    }
    price.sends_block = !hides_sends(job);
    if (price.sends_block) return;
    // As much comes from the neighbours as goes to them.
    const double slowdown = 1 + (job.scenario.framework.overlap_slowdown.value - 1) / r.overlap;
    const Seconds kernels = price.blocks.forward.device + price.blocks.backward.device + price.blocks.recompute.device;
    const Seconds transfers = 2.0 * (price.send_ahead + price.send_back);
    price.beside_sends = transfers < slowdown * kernels ? (1 - 1 / slowdown) * transfers : (slowdown - 1) * kernels;
}

// Of a micro-batch in each chunk. What data parallelism and copies add to a pass is spread evenly over the chunks.
std::vector<ChunkTimes> price_chunks(const StagePrice& stage, const Prepared::State& job, std::size_t s,
                                     std::span<const SegmentPrice> segments, const StagePrice* before, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const std::size_t last = job.stages.size() - 1, count = job.chunks[s].size();
    const double part = 1 / static_cast<double>(count), passes = plan.forward_only ? 1 : 2;
    const double slowed = 1 + stage.beside_sends / (stage.ahead() + stage.back());
    const DataParallelPrice& data = stage.data;
    const Seconds copies = stage.offload / passes;
    std::vector<ChunkTimes> chunks;
    for (std::size_t c = 0; c < count; ++c) {
        SegmentPrice all;
        for (const ChunkBlocks::Block& b : job.chunks[s][c].blocks) {
            const SegmentPrice& block = segments[static_cast<std::size_t>(b.block_template)];
            all.forward += block.forward;
            all.backward += block.backward;
            all.weights += block.weights;
            if (b.runs_again(job.stages[s])) all.recompute += block.recompute;
        }
        ChunkTimes t;
        t.early = (c == 0 ? stage.overhead : Seconds{}) + part * (copies + data.early_ahead);
        t.ahead = t.early + slowed * all.forward.time() + part * (data.steady_ahead - data.early_ahead);
        if (!plan.forward_only) {
            t.early_back = part * data.early_back;
            t.late = stage.sends_block ? Seconds{} : part * data.late;
            t.weights = slowed * all.weights.time() + part * data.steady_weights;
            t.back = slowed * (all.backward.time() + all.recompute.time() - all.weights.time()) +
                     part * (copies + data.steady - data.steady_ahead - data.steady_weights);
        }
        if (s < last || c + 1 < count) t.send_ahead = send_time(job, s, c, r);
        if (s > 0 || c > 0) t.send_back = s > 0 ? before->chunks[c].send_ahead : send_time(job, last, c - 1, r);
        t.first = part * data.first_forward;
        t.last = part * (data.passing - data.first_forward);
        chunks.push_back(t);
    }
    return chunks;
}

SegmentPrice price_blocks(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments) {
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

StagePrice price_stage(const Prepared::State& job, std::size_t stage, std::span<const SegmentPrice> segments, Seconds arrival,
                       const StagePrice* before, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    StagePrice price;
    price.blocks = price_blocks(job, stage, segments);
    price.overhead = job.scenario.framework.micro_batch_overhead.value / (job.scenario.cluster.node.host.thread_speed.value * r.host);
    if (plan.offload == Offload::optimizer_and_parameters)  // once for each pass
        price.offload = (plan.forward_only ? 1 : 2) * offloaded_weights_time(job, stage, r);
    if (plan.pp > 1) price_sends(price, job, stage, before, r);
    price.data = price_data_parallel(job, stage, segments, arrival, price.overhead + price.offload, r);
    price.optimizer = price_optimizer(job, stage, r);
    if (!job.played.empty()) price.chunks = price_chunks(price, job, stage, segments, before, r);
    return price;
}

// Where stages share nodes, an exchange meets those of the others as often as these go on: as often as it does itself, but for the first
// micro-batch, which is on one stage only. The longer exchanges take, the more they meet.
std::optional<std::vector<SegmentPrice>> beside_other_stages(const Prepared::State& job, std::size_t stage,
                                                             std::span<const SegmentPrice> segments) {
    const std::array<double, 3>& beside = job.groups.mates[stage].in_layers;
    if (beside == std::array<double, 3>{1, 1, 1}) return {};
    const SegmentPrice blocks = price_blocks(job, stage, segments);
    const PhasePrice all = blocks.forward + blocks.backward + blocks.recompute;
    const double others = 1 - 1 / static_cast<double>(job.micro_batches);
    std::array<double, 3> times{1, 1, 1};
    for (int i = 0; i < 3; ++i) {
        const Seconds period = all.stretched(times).time();
        for (std::size_t g = 0; g < times.size(); ++g)
            times[g] = 1 + (beside[g] - 1) * others * std::min(1.0, times[g] * all.links(g) / period);
    }
    std::vector<SegmentPrice> stretched;
    for (const SegmentPrice& s : segments)
        stretched.push_back(
            {s.forward.stretched(times), s.backward.stretched(times), s.recompute.stretched(times), s.weights.stretched(times)});
    return stretched;
}

}  // namespace

bool hides_sends(const Prepared::State& job) { return overlaps_pipeline(job.scenario.plan, job.scenario.framework); }

StageTimes StagePrice::times(double passes) const {
    StageTimes t;
    t.early = overhead + offload / passes + data.early_ahead;
    t.early_back = data.early_back;
    t.late = sends_block ? Seconds{} : data.late;
    t.ahead = t.early + ahead() + (sends_block ? send_ahead : Seconds{});
    t.weights = blocks.weights.time() + data.steady_weights;
    t.back = micro_batch() - t.ahead - t.weights;
    t.host_ahead = blocks.forward.host;
    t.host_back = blocks.backward.host + blocks.recompute.host;
    t.passing = data.passing;
    return t;
}

std::vector<SegmentPrice> price_segments(const Prepared::State& job, const Resources& r) {
    std::vector<SegmentPrice> segments;
    segments.reserve(job.groups.unlike.size() * job.templates.size());
    for (const JobGroups& groups : job.groups.unlike)
        for (const BlockKernels& k : job.templates) segments.push_back(price_block(k, job, groups, r));
    return segments;
}

// The ends of a pipeline have one neighbour only.
StagePrices price_stages(const Prepared::State& job, std::span<const SegmentPrice> segments, const Resources& r) {
    StagePrices prices;
    prices.which.reserve(job.stages.size());
    Seconds arrival;  // of the first micro-batch
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const StagePrice* before = s > 0 ? &prices.unlike.back() : nullptr;
        const bool alike = s > 1 && s + 1 < job.stages.size() && job.stages[s] == job.stages[s - 1] && job.groups.as_before(s) &&
                           !(before->data.first_forward > Seconds{});
        if (!alike) {
            const std::size_t count = job.templates.size();
            const auto alone = segments.subspan(job.groups.which[s] * count, count);
            const auto met = beside_other_stages(job, s, alone);
            prices.unlike.push_back(price_stage(job, s, met ? std::span<const SegmentPrice>(*met) : alone, arrival, before, r));
        }
        const StagePrice& here = prices.unlike.back();
        prices.which.push_back(prices.unlike.size() - 1);
        arrival += (here.ahead() + here.send_ahead) / job.scenario.plan.vpp + here.data.first_forward;
    }
    return prices;
}

}  // namespace sextant
