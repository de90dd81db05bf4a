#include "model/predict/estimate.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/pipeline.hpp"
#include "model/predict/pipeline_play.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// One micro-batch on one stage, and what the stage adds once a step.
struct StagePrice {
    PhasePrice forward, backward, recompute, weights;
    Seconds overhead, offload;      // per micro-batch
    Seconds send_ahead, send_back;  // to the neighbours, per micro-batch
    bool sends_block = false;
    Seconds beside_sends;  // what kernels take longer beside transfers, per micro-batch
    DataParallelPrice data;
    Seconds optimizer;
    std::vector<ChunkTimes> chunks;  // where the schedule is played

    [[nodiscard]] Seconds ahead() const { return forward.device + forward.exchanges(); }
    [[nodiscard]] Seconds back() const { return backward.device + backward.exchanges() + recompute.device + recompute.exchanges(); }
    [[nodiscard]] Seconds sends() const { return sends_block ? send_ahead + send_back : Seconds{}; }
    [[nodiscard]] Seconds micro_batch() const { return ahead() + back() + overhead + offload + sends() + beside_sends + data.steady; }
    [[nodiscard]] StageTimes times(double passes) const;
};

// `passes`: two, or one forward alone.
StageTimes StagePrice::times(double passes) const {
    StageTimes t;
    t.early = overhead + offload / passes + data.early_ahead;
    t.early_back = data.early_back;
    t.ahead = overhead + offload / passes + data.early_ahead + ahead() + (sends_block ? send_ahead : Seconds{});
    t.weights = weights.device + weights.exchanges();
    t.back = micro_batch() - t.ahead - t.weights;
    t.host_ahead = forward.host;
    t.host_back = backward.host + recompute.host;
    t.passing = data.passing;
    return t;
}

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

// Does a stage go on computing while it sends?
bool hides_sends(const Prepared::State& job) { return overlaps_pipeline(job.scenario.plan, job.scenario.framework); }

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
    const Seconds kernels = price.forward.device + price.backward.device + price.recompute.device;
    const Seconds transfers = 2.0 * (price.send_ahead + price.send_back);
    price.beside_sends = transfers < slowdown * kernels ? (1 - 1 / slowdown) * transfers : (slowdown - 1) * kernels;
}

Seconds time_of(const PhasePrice& p) { return p.device + p.exchanges(); }

// What data parallelism and transfers add to each pass is spread evenly over the chunks.
std::vector<ChunkTimes> price_chunks(const StagePrice& stage, const Prepared::State& job, std::size_t s, const std::vector<SegmentPrice>& segments, const StagePrice* before, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const std::size_t last = job.stages.size() - 1;
    const double n = plan.vpp, passes = plan.forward_only ? 1 : 2;
    std::vector<ChunkTimes> chunks;
    for (std::size_t c = 0; c < job.chunks[s].size(); ++c) {
        ChunkTimes t;
        for (const ChunkBlocks::Block& b : job.chunks[s][c].blocks) {
            const SegmentPrice& block = segments[static_cast<std::size_t>(b.block_template)];
            t.ahead += time_of(block.forward);
            t.back += time_of(block.backward) - time_of(block.weights);
            t.weights += time_of(block.weights);
            if (b.recomputed) t.back += time_of(block.recompute);
        }
        const Seconds kernels = stage.forward.device + stage.backward.device + stage.recompute.device;
        const double slowed = kernels > Seconds{} ? 1 + stage.beside_sends / kernels : 1;
        t.early = (c == 0 ? stage.overhead : Seconds{}) + stage.offload / passes / n + stage.data.early_ahead / n;
        t.ahead = slowed * t.ahead + t.early + (stage.data.steady_ahead - stage.data.early_ahead) / n;
        t.early_back = stage.data.early_back / n;
        if (!plan.forward_only) {
            t.weights += stage.data.steady_weights / n;
            t.back = slowed * t.back + (stage.offload / passes + stage.data.steady - stage.data.steady_ahead - stage.data.steady_weights) / n;
        }
        if (s < last || c + 1 < job.chunks[s].size()) t.send_ahead = send_time(job, s, c, r);
        if (s > 0 || c > 0) t.send_back = s > 0 ? before->chunks[c].send_ahead : send_time(job, last, c - 1, r);
        t.first = stage.data.first_forward / n;
        t.last = (stage.data.passing - stage.data.first_forward) / n;
        chunks.push_back(t);
    }
    return chunks;
}

StagePrice price_stage(const Prepared::State& job, std::size_t stage, const std::vector<SegmentPrice>& segments, Seconds arrival,
                       const StagePrice* before, const Resources& r) {
    const StageBlocks& blocks = job.stages[stage];
    const Plan& plan = job.scenario.plan;
    StagePrice price;
    for (std::size_t t = 0; t < segments.size(); ++t) {
        const double n = blocks.count[t];
        if (n == 0) continue;
        price.forward += n * segments[t].forward;
        price.backward += n * segments[t].backward;
        price.weights += n * segments[t].weights;
        const bool layer = job.roles[t] == BlockRole::layer;
        const double again = layer && blocks.layers > 0 ? n * blocks.recomputed_layers / blocks.layers : 0;
        price.recompute += again * segments[t].recompute;
    }
    price.overhead = job.scenario.framework.micro_batch_overhead.value / (job.scenario.cluster.node.host.thread_speed.value * r.host);
    if (plan.offload == Offload::optimizer_and_parameters)  // once for each pass
        price.offload = (plan.forward_only ? 1 : 2) * offloaded_weights_time(job, stage, r);
    if (plan.pp > 1) price_sends(price, job, stage, before, r);
    price.data = price_data_parallel(job, stage, segments, arrival, price.overhead + price.offload, r);
    price.optimizer = price_optimizer(job, stage, r);
    if (job.played) price.chunks = price_chunks(price, job, stage, segments, before, r);
    return price;
}

// With exchanges as long as they get where those of other stages, at any time of theirs, cross the same links.
std::vector<SegmentPrice> beside_other_stages(const Prepared::State& job, std::size_t stage, std::vector<SegmentPrice> segments) {
    const std::array<double, 3>& most = job.groups.mates[stage].in_layers;
    PhasePrice all;
    for (std::size_t t = 0; t < segments.size(); ++t) {
        const double n = job.stages[stage].count[t];
        all += n * segments[t].forward;
        all += n * segments[t].backward;
        const StageBlocks& blocks = job.stages[stage];
        if (job.roles[t] == BlockRole::layer && blocks.layers > 0) all += n * blocks.recomputed_layers / blocks.layers * segments[t].recompute;
    }
    const double m = static_cast<double>(job.micro_batches), together = (m - 1) / m;
    std::array<double, 3> times{1, 1, 1};
    for (int i = 0; i < 3; ++i) {
        const Seconds period = all.stretched(times).device + all.stretched(times).exchanges();
        for (std::size_t g = 0; g < times.size(); ++g) {
            const double busy = std::min(1.0, times[g] * all.links(g) / period);
            times[g] = 1 + (most[g] - 1) * busy * together;
        }
    }
    for (SegmentPrice& s : segments)
        for (PhasePrice* phase : {&s.forward, &s.backward, &s.recompute, &s.weights}) *phase = phase->stretched(times);
    return segments;
}

// Most stages of a deep pipeline are like the one before, and cost the same; its ends have one neighbour only.
std::vector<StagePrice> price_stages(const Prepared::State& job, const Resources& r) {
    std::vector<std::vector<SegmentPrice>> segments(job.groups.unlike.size());  // by groups, by template
    for (std::size_t g = 0; g < segments.size(); ++g) {
        segments[g].reserve(job.templates.size());
        for (const BlockKernels& k : job.templates) segments[g].push_back(price_block(k, job, job.groups.unlike[g], r));
    }
    std::vector<StagePrice> stages;
    stages.reserve(job.stages.size());
    Seconds arrival;  // of the first micro-batch
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const bool alike = s > 1 && s + 1 < job.stages.size() && job.stages[s] == job.stages[s - 1] && job.groups.alike(s - 1, s) &&
                           !(stages.back().data.first_forward > Seconds{});
        const std::vector<SegmentPrice>& blocks = segments[job.groups.which[s]];
        const bool meets = !job.groups.mates.empty() && job.groups.mates[s].in_layers != std::array<double, 3>{1, 1, 1};
        stages.push_back(alike ? stages.back()
                               : price_stage(job, s, meets ? beside_other_stages(job, s, blocks) : blocks, arrival, s > 0 ? &stages.back() : nullptr, r));
        arrival += (stages.back().ahead() + stages.back().send_ahead) / job.scenario.plan.vpp + stages.back().data.first_forward;
    }
    return stages;
}

Pipeline pipeline_of(const Prepared::State& job, const std::vector<StagePrice>& stages) {
    const Plan& plan = job.scenario.plan;
    Pipeline p{plan.schedule, plan.vpp, static_cast<double>(job.micro_batches), plan.forward_only, {}};
    if (plan.pp < 2 || !hides_sends(job)) return p;
    Seconds all;
    for (const StagePrice& s : stages) all += s.send_ahead;
    p.hidden_send = all / (plan.pp * plan.vpp - 1);
    return p;
}

std::vector<Seconds> played_ends(const Prepared::State& job, const std::vector<StagePrice>& stages, const Pipeline& pipeline, const std::vector<StageTimes>& times) {
    PlayedPipeline played{{}, stages.front().sends_block, pipeline.forward_only};
    for (const StagePrice& s : stages) played.stages.push_back(s.chunks);
    const Prepared::State::PlayedOrders& orders = *job.played;
    std::vector<Seconds> ends = play(played, orders.orders, orders.micro_batches);
    if (orders.fewer > 0) {
        const std::vector<Seconds> before = play(played, orders.fewer_orders, orders.fewer);
        const double more = static_cast<double>(job.micro_batches - orders.micro_batches) / (orders.micro_batches - orders.fewer);
        for (std::size_t s = 0; s < ends.size(); ++s) ends[s] += more * (ends[s] - before[s]);
    }
    const Seconds device = *std::ranges::max_element(ends), host = host_time(pipeline, times, device);
    if (host > device)
        for (Seconds& e : ends) e += host - device;
    return ends;
}

// By how much later the gradients of a stage are reduced at the end of the step, where others reduce theirs over the same links: whoever
// is done last has waited for all of them to go through.
Seconds held_up_at_end(const Prepared::State& job, const std::vector<StagePrice>& stages, const std::vector<Seconds>& ends, std::size_t stage) {
    if (job.groups.mates.empty() || !(job.groups.mates[stage].data > 1)) return {};
    const StageMates& mates = job.groups.mates[stage];
    const auto alone = [&](std::size_t s) { return ends[s] + stages[s].data.behind; };
    Seconds through;
    const auto goes_through = [&](std::size_t s) { through = max(through, alone(s) - stages[s].data.at_end) + stages[s].data.at_end; };
    for (auto mate = mates.stages.rbegin(); mate != mates.stages.rend() && *mate > stage; ++mate) goes_through(*mate);
    goes_through(stage);
    return std::min(1.0, (mates.data - 1) / static_cast<double>(mates.stages.size())) * (through - alone(stage));
}

// Expected maximum of n independent normal step times, in standard deviations above the mean: the quantile (n - 3/8) / (n + 1/4)
// (Blom, "Statistical Estimates and Transformed Beta-Variables", 1958); 0 for one. The quantile by bisection on the error function.
double expected_maximum(int n) {
    if (n < 2) return 0;
    const double probability = (n - 0.375) / (n + 0.25);
    double low = 0, high = 10;
    for (int i = 0; i < 50; ++i) {
        const double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle / std::sqrt(2.0)) < probability ? low : high) = middle;
    }
    return low;
}

Seconds straggler_time(const Prepared::State& job, Seconds busy) {
    const Scenario& s = job.scenario;
    if (s.plan.data_parallel == DataParallel::async_parameter_server) {
        // Nobody waits: the slow devices only do less of the work.
        if (!s.straggler) return {};
        const double n = s.plan.devices(), missing = s.straggler->devices * (1 - s.straggler->speed);
        return (n / std::max(n - missing, 1e-3 * n) - 1) * busy;
    }
    Seconds wait;
    if (s.step_noise > 0) wait = s.step_noise * expected_maximum(s.plan.devices()) * busy;
    if (s.straggler && s.straggler->devices > 0 && s.straggler->speed < 1) wait += (1 / s.straggler->speed - 1) * busy;
    return wait;
}

// The step of the rank of one stage, whose last backward ends at `end`. While the pipeline waits for hosts, this one's is no exception.
Terms stage_terms(const StagePrice& s, const Prepared::State& job, Seconds end, const Resources& r) {
    const double m = static_cast<double>(job.micro_batches);
    const bool forward_only = job.scenario.plan.forward_only;
    Terms t;
    t[Term::forward] = m * s.forward.device + (forward_only ? s.data.slowdown : Seconds{});
    t[Term::backward] = m * s.backward.device + (forward_only ? Seconds{} : s.data.slowdown);
    t[forward_only ? Term::forward : Term::backward] += m * s.beside_sends;
    t[Term::recompute] = m * s.recompute.device;
    static constexpr Term by_group[] = {Term::tensor_communication, Term::context_communication, Term::expert_communication};
    for (std::size_t g = 0; g < 3; ++g) t[by_group[g]] = m * (s.forward.exchange[g] + s.backward.exchange[g] + s.recompute.exchange[g]);
    t[Term::tensor_communication] += m * (s.forward.meeting + s.backward.meeting + s.recompute.meeting);
    t[Term::pipeline_communication] = m * s.sends();
    const Seconds waits = max(Seconds{}, end - m * s.micro_batch() - s.data.passing);
    const Seconds host = m * (s.forward.host + s.backward.host + s.recompute.host - s.micro_batch());
    t[Term::launch] = job.scenario.plan.pp == 1 ? s.data.launch : std::clamp(host, Seconds{}, waits);
    t[Term::bubble] = job.scenario.plan.pp == 1 ? Seconds{} : waits - t[Term::launch];
    t[Term::data_communication] = s.data.exposed;
    t[Term::optimizer] = s.optimizer;
    t[Term::offload] = m * s.offload + s.data.offload;
    const double thread = job.scenario.cluster.node.host.thread_speed.value * r.host;
    t[Term::overhead] = m * s.overhead + job.scenario.framework.step_overhead.value / thread;
    t[Term::straggler] = straggler_time(job, m * (s.ahead() + s.back()) + s.optimizer);
    return t;
}

void count_flops(Estimate& e, const Prepared::State& job) {
    Flops model, extra;
    for (const StageBlocks& stage : job.stages) {
        for (std::size_t t = 0; t < job.templates.size(); ++t) {
            const BlockKernels& k = job.templates[t];
            const double n = stage.count[t];
            model += n * k.forward_flops;
            if (job.scenario.plan.forward_only) continue;
            model += n * 2.0 * k.forward_flops;
            extra += n * (k.backward_flops - 2.0 * k.forward_flops);
            Flops again;
            for (const Kernel& kernel : k.recompute) again += kernel.flops;
            const bool layer = job.roles[t] == BlockRole::layer;
            extra += layer && stage.layers > 0 ? n * stage.recomputed_layers / stage.layers * again : Flops{};
        }
    }
    const Plan& plan = job.scenario.plan;
    const double copies = static_cast<double>(job.micro_batches) * plan.dp * plan.tp * plan.cp;
    e.model_flops = copies * model;
    e.hardware_flops = copies * (model + extra);
}

}  // namespace

std::string_view to_text(Term t) {
    static constexpr std::string_view names[term_count] = {"forward",
                                                           "backward",
                                                           "recompute",
                                                           "optimizer",
                                                           "tensor_communication",
                                                           "context_communication",
                                                           "expert_communication",
                                                           "pipeline_communication",
                                                           "data_communication",
                                                           "bubble",
                                                           "input",
                                                           "launch",
                                                           "offload",
                                                           "straggler",
                                                           "overhead"};
    return names[static_cast<std::size_t>(t)];
}

std::string_view to_text(MemoryKind k) {
    static constexpr std::string_view names[memory_kind_count] = {
        "weights", "gradients", "optimizer", "activations", "logits", "gathered_weights", "communication", "context", "fragmentation"};
    return names[static_cast<std::size_t>(k)];
}

Seconds Terms::total() const {
    Seconds sum;
    for (const Seconds t : of) sum += t;
    return sum;
}

Bytes StageMemory::total() const {
    Bytes sum;
    for (const Bytes b : of) sum += b;
    return sum;
}

Estimate estimate(const Prepared& prepared, const Resources& r) {
    const Prepared::State& job = prepared.state();
    const std::vector<StagePrice> stages = price_stages(job, r);
    const Pipeline pipeline = pipeline_of(job, stages);
    std::vector<StageTimes> times;
    times.reserve(stages.size());
    for (const StagePrice& s : stages) times.push_back(s.times(pipeline.forward_only ? 1 : 2));

    Estimate e;
    std::size_t last = 0, slowest = 0;
    Seconds latest, end_of_last, end_of_slowest;
    const bool played = job.played.has_value();
    Seconds end = stages.size() > 1 ? pipeline_time(pipeline, times)
                                    : pipeline.micro_batches * times[0].device() + times[0].passing + stages[0].data.launch;
    std::vector<Seconds> ends;  // of their last backward
    if (played) ends = played_ends(job, stages, pipeline, times);
    for (std::size_t s = 0; s < stages.size() && !played; ++s) {
        ends.push_back(end);
        end -= drain(pipeline, times[s]) + pipeline.hidden_send;
    }
    for (std::size_t s = 0; s < stages.size(); ++s) {
        end = ends[s] + held_up_at_end(job, stages, ends, s);
        const Seconds done = end + stages[s].data.behind + stages[s].optimizer + stages[s].data.offload;
        if (s == 0 || done > latest) last = s, latest = done, end_of_last = end;
        if (s == 0 || stages[s].micro_batch() > stages[slowest].micro_batch()) slowest = s, end_of_slowest = end;
    }
    const double m = static_cast<double>(job.micro_batches);
    const StagePrice& finisher = stages[last];
    e.last_stage = static_cast<int>(last);
    e.terms = stage_terms(finisher, job, end_of_last, r);
    e.step = e.terms.total();
    e.overlapped[Term::data_communication] = finisher.data.hidden;
    e.overlapped[Term::tensor_communication] = m * (finisher.forward.hidden + finisher.backward.hidden + finisher.recompute.hidden -
                                                    finisher.forward.meeting - finisher.backward.meeting - finisher.recompute.meeting);
    e.slowest_stage = static_cast<int>(slowest);
    e.slowest = stage_terms(stages[slowest], job, end_of_slowest, r);
    e.slowest[Term::bubble] += max(Seconds{}, e.step - e.slowest.total());  // it waits for the rank that finishes last
    e.memory = stage_memory(job);
    for (const StageMemory& stage : e.memory) e.peak_memory = max(e.peak_memory, stage.total());
    const Device& device = job.scenario.cluster.node.device;
    e.device_memory = device.usable_memory ? device.usable_memory->value : device.memory.value;
    e.fits = e.peak_memory <= e.device_memory;
    count_flops(e, job);
    return e;
}

}  // namespace sextant
