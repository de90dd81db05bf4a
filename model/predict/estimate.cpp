#include "model/predict/estimate.hpp"

#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// One micro-batch on one stage, and what the stage adds once a step.
struct StagePrice {
    PhasePrice forward, backward, recompute;
    Seconds launch;             // the device waits for the host, per micro-batch
    Seconds overhead, offload;  // per micro-batch
    Seconds sends;              // exposed transfers to the neighbours, per micro-batch
    DataParallelPrice data;
    Seconds optimizer;

    [[nodiscard]] Seconds ahead() const { return forward.device + forward.exchanges(); }
    [[nodiscard]] Seconds back() const { return backward.device + backward.exchanges() + recompute.device + recompute.exchanges(); }
    [[nodiscard]] Seconds micro_batch() const { return ahead() + back() + launch + overhead + offload + sends + data.steady; }
};

// Bytes that cross a stage boundary, by one rank: the smallest cut that the framework makes of it.
Bytes boundary_bytes(const Prepared::State& job) {
    Bytes bytes;
    for (std::size_t t = 0; t < job.templates.size(); ++t)
        if (job.roles[t] == BlockRole::layer) bytes = max(bytes, job.templates[t].boundary);
    const Plan& plan = job.scenario.plan;
    if (job.scenario.framework.scatters_pipeline && !plan.sequence_parallel) bytes /= plan.tp;
    return bytes;
}

Seconds send_time(const Prepared::State& job, const Resources& r) {
    if (job.scenario.plan.pp < 2) return {};
    const Bytes bytes = boundary_bytes(job);
    Seconds t = group_time(Collective::send, bytes, job.groups.pipeline, job, r);
    const Plan& plan = job.scenario.plan;
    if (job.scenario.framework.scatters_pipeline && !plan.sequence_parallel && plan.tp > 1)
        t += group_time(Collective::all_gather, bytes * plan.tp, job.groups.tensor, job, r);
    return t;
}

// Does a stage go on computing while it sends?
bool hides_sends(const Prepared::State& job) {
    const Plan& plan = job.scenario.plan;
    return plan.pipeline_overlap.value_or(job.scenario.framework.overlaps_pipeline);
}

// Boundaries that one micro-batch's activations, and its gradients where there are any, cross between two stages.
double directions(const Plan& plan) { return plan.forward_only ? 1 : 2; }

StagePrice price_stage(const Prepared::State& job, std::size_t stage, const std::vector<SegmentPrice>& segments, Seconds send,
                       Seconds arrival, const Resources& r) {
    const StageBlocks& blocks = job.stages[stage];
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    StagePrice price;
    for (std::size_t t = 0; t < segments.size(); ++t) {
        const double n = blocks.count[t];
        if (n == 0) continue;
        price.forward += n * segments[t].forward;
        price.backward += n * segments[t].backward;
        const bool layer = job.roles[t] == BlockRole::layer;
        const double again = layer && blocks.layers > 0 ? n * blocks.recomputed_layers / blocks.layers : 0;
        price.recompute += again * segments[t].recompute;
    }
    if (plan.pp > 1)
        price.launch =
            max(Seconds{}, price.forward.host - price.ahead()) + max(Seconds{}, price.backward.host + price.recompute.host - price.back());
    const double thread = job.scenario.cluster.node.host.thread_speed.value * r.host;
    price.overhead = f.micro_batch_overhead.value / thread;
    if (plan.offload == Offload::optimizer_and_parameters)  // once for each pass
        price.offload = directions(plan) * offloaded_weights_time(job, stage, r);
    price.sends = hides_sends(job) || plan.schedule == Schedule::sequential ? Seconds{} : directions(plan) * plan.vpp * send;
    price.data = price_data_parallel(job, stage, segments, arrival, price.overhead + price.offload, r);
    price.optimizer = price_optimizer(job, stage, r);
    return price;
}

// When the first stage ends its last backward, which is the last of all; the others end earlier, by the drain. Symbols and derivation:
// docs/model/pipeline.md.
//   T = m t_max + (sum of the other stages' t) x fill / v
// with fill = 1 (GPipe, 1F1B, interleaved), F/(F+B) (zero-bubble, whose weight gradients fill the rest); sequential: m sum t.
// A stage's t holds its sends, unless they hide behind its work: then filling and draining still wait for (p - 1) of them each way.
Seconds pipeline_time(const Prepared::State& job, const std::vector<StagePrice>& stages, Seconds send) {
    const Plan& plan = job.scenario.plan;
    const double m = static_cast<double>(job.micro_batches);
    Seconds slowest, sum, ahead, passing;
    for (const StagePrice& s : stages) {
        slowest = max(slowest, s.micro_batch());
        sum += s.micro_batch();
        ahead += s.ahead();
        passing += s.data.passing;
    }
    if (plan.pp == 1) return m * sum + passing + stages.front().data.launch;
    const Seconds transfers = directions(plan) * (plan.pp - 1) * send;
    if (plan.schedule == Schedule::sequential) return m * (sum + transfers) + passing;
    const double fill = plan.schedule == Schedule::zero_bubble ? ahead / sum : 1.0;
    return m * slowest + (sum - slowest) * (fill / plan.vpp) + (hides_sends(job) ? transfers : Seconds{}) + passing;
}

// Most stages of a deep pipeline are like the one before, and cost the same.
std::vector<StagePrice> price_stages(const Prepared::State& job, Seconds send, const Resources& r) {
    std::vector<SegmentPrice> segments;
    segments.reserve(job.templates.size());
    for (const BlockKernels& k : job.templates) segments.push_back(price_block(k, job, r));
    std::vector<StagePrice> stages;
    stages.reserve(job.stages.size());
    Seconds arrival;  // of the first micro-batch
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const bool alike = s > 0 && job.stages[s] == job.stages[s - 1] && !(stages.back().data.first_forward > Seconds{});
        stages.push_back(alike ? stages.back() : price_stage(job, s, segments, send, arrival, r));
        arrival += stages.back().ahead() / job.scenario.plan.vpp + stages.back().data.first_forward + send;
    }
    return stages;
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

// The step of the rank of one stage, whose last backward ends at `end`.
Terms stage_terms(const StagePrice& s, const Prepared::State& job, Seconds end, const Resources& r) {
    const double m = static_cast<double>(job.micro_batches);
    const bool forward_only = job.scenario.plan.forward_only;
    Terms t;
    t[Term::forward] = m * s.forward.device + (forward_only ? s.data.slowdown : Seconds{});
    t[Term::backward] = m * s.backward.device + (forward_only ? Seconds{} : s.data.slowdown);
    t[Term::recompute] = m * s.recompute.device;
    static constexpr Term by_group[] = {Term::tensor_communication, Term::context_communication, Term::expert_communication};
    for (std::size_t g = 0; g < 3; ++g) t[by_group[g]] = m * (s.forward.exchange[g] + s.backward.exchange[g] + s.recompute.exchange[g]);
    t[Term::pipeline_communication] = m * s.sends;
    t[Term::launch] = m * s.launch + s.data.launch;
    t[Term::bubble] = max(Seconds{}, end - m * s.micro_batch() - s.data.passing - s.data.launch);
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
    const Seconds send = send_time(job, r);
    const std::vector<StagePrice> stages = price_stages(job, send, r);

    Estimate e;
    std::size_t last = 0, slowest = 0;
    Seconds latest, end_of_last, end_of_slowest;
    Seconds end = pipeline_time(job, stages, send);
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const Seconds done = end + stages[s].data.behind + stages[s].optimizer + stages[s].data.offload;
        if (s == 0 || done > latest) last = s, latest = done, end_of_last = end;
        if (s == 0 || stages[s].micro_batch() > stages[slowest].micro_batch()) slowest = s, end_of_slowest = end;
        end -= stages[s].back() / job.scenario.plan.vpp + send;
    }
    const double m = static_cast<double>(job.micro_batches);
    const StagePrice& finisher = stages[last];
    e.last_stage = static_cast<int>(last);
    e.terms = stage_terms(finisher, job, end_of_last, r);
    e.step = e.terms.total();
    e.overlapped[Term::data_communication] = finisher.data.hidden;
    e.overlapped[Term::tensor_communication] = m * (finisher.forward.hidden + finisher.backward.hidden + finisher.recompute.hidden);
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
