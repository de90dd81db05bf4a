#include "model/predict/estimate.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/stage_price.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

Pipeline pipeline_of(const Prepared::State& job, const std::vector<StagePrice>& stages) {
    const Plan& plan = job.scenario.plan;
    Pipeline p{plan.schedule, plan.vpp, static_cast<double>(job.micro_batches), plan.forward_only, {}};
    if (plan.pp < 2 || !hides_sends(job)) return p;
    Seconds all;
    for (const StagePrice& s : stages) all += s.send_ahead;
    p.hidden_send = all / (plan.pp * plan.vpp - 1);
    return p;
}

std::vector<Seconds> played_ends(const Prepared::State& job, const std::vector<StagePrice>& stages) {
    PlayedPipeline pipeline{{}, stages.front().sends_block, job.scenario.plan.forward_only};
    for (const StagePrice& s : stages) pipeline.stages.push_back(s.chunks);
    const PlayedOrders& few = job.played.front();
    std::vector<Seconds> ends = play(pipeline, few.of_stage, few.micro_batches);
    if (job.played.size() < 2) return ends;
    // All further micro-batches take as long as those that it took from few to more.
    const PlayedOrders& more = job.played.back();
    const std::vector<Seconds> later = play(pipeline, more.of_stage, more.micro_batches);
    const double further = static_cast<double>(job.micro_batches - few.micro_batches) / (more.micro_batches - few.micro_batches);
    for (std::size_t s = 0; s < ends.size(); ++s) ends[s] += further * (later[s] - ends[s]);
    return ends;
}

// When each stage ends its last backward, or its last forward where there is none.
std::vector<Seconds> stage_ends(const Prepared::State& job, const std::vector<StagePrice>& stages) {
    const Pipeline pipeline = pipeline_of(job, stages);
    std::vector<StageTimes> times;
    times.reserve(stages.size());
    for (const StagePrice& s : stages) times.push_back(s.times(pipeline.forward_only ? 1 : 2));
    if (stages.size() == 1) return {pipeline.micro_batches * times[0].device() + times[0].passing + stages[0].data.launch};
    if (job.played.empty()) return pipeline_ends(pipeline, times);
    std::vector<Seconds> ends = played_ends(job, stages);
    const Seconds device = *std::ranges::max_element(ends), later = held_up_by_hosts(pipeline, times, device) - device;
    for (Seconds& end : ends) end += later;
    return ends;
}

// By how much later the gradients of a stage are reduced at the end of the step, where others reduce theirs over the same links: whoever
// is done last has waited for all of them to go through.
Seconds held_up_at_end(const Prepared::State& job, const std::vector<StagePrice>& stages, const std::vector<Seconds>& ends,
                       std::size_t stage) {
    const StageMates& mates = job.groups.mates[stage];
    if (!(mates.data > 1)) return {};
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

// The step of the rank of one stage, whose last backward ends at `end`, and whose gradients are held up by those of others. While the
// pipeline waits for hosts, this one's is no exception.
Terms stage_terms(const StagePrice& s, const Prepared::State& job, Seconds end, Seconds held_up, const Resources& r) {
    const double m = static_cast<double>(job.micro_batches);
    const bool forward_only = job.scenario.plan.forward_only;
    Terms t;
    t[Term::forward] = m * s.blocks.forward.device + (forward_only ? s.data.slowdown : Seconds{});
    t[Term::backward] = m * s.blocks.backward.device + (forward_only ? Seconds{} : s.data.slowdown);
    t[forward_only ? Term::forward : Term::backward] += m * s.beside_sends;
    t[Term::recompute] = m * s.blocks.recompute.device;
    static constexpr Term by_group[] = {Term::tensor_communication, Term::context_communication, Term::expert_communication};
    for (std::size_t g = 0; g < 3; ++g)
        t[by_group[g]] = m * (s.blocks.forward.exchange[g] + s.blocks.backward.exchange[g] + s.blocks.recompute.exchange[g]);
    t[Term::tensor_communication] += m * (s.blocks.forward.meeting + s.blocks.backward.meeting + s.blocks.recompute.meeting);
    t[Term::pipeline_communication] = m * s.sends();
    const Seconds waits = max(Seconds{}, end - m * s.micro_batch() - s.data.passing);
    const Seconds host = m * (s.blocks.forward.host + s.blocks.backward.host + s.blocks.recompute.host - s.micro_batch());
    t[Term::launch] = job.scenario.plan.pp == 1 ? s.data.launch : std::clamp(host, Seconds{}, waits);
    t[Term::bubble] = job.scenario.plan.pp == 1 ? Seconds{} : waits - t[Term::launch];
    t[Term::data_communication] = s.data.exposed + held_up;
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
    const std::vector<Seconds> ends = stage_ends(job, stages);

    Estimate e;
    std::size_t last = 0, slowest = 0;
    Seconds latest;
    const auto held_up = [&](std::size_t s) { return held_up_at_end(job, stages, ends, s); };
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const Seconds done = ends[s] + held_up(s) + stages[s].data.behind + stages[s].optimizer + stages[s].data.offload;
        if (s == 0 || done > latest) last = s, latest = done;
        if (stages[s].micro_batch() > stages[slowest].micro_batch()) slowest = s;
    }
    const double m = static_cast<double>(job.micro_batches);
    const StagePrice& finisher = stages[last];
    e.last_stage = static_cast<int>(last);
    e.terms = stage_terms(finisher, job, ends[last], held_up(last), r);
    e.step = e.terms.total();
    e.overlapped[Term::data_communication] = finisher.data.hidden;
    const PhasePrice passes = finisher.blocks.forward + finisher.blocks.backward + finisher.blocks.recompute;
    e.overlapped[Term::tensor_communication] = m * (passes.hidden - passes.meeting);
    e.slowest_stage = static_cast<int>(slowest);
    e.slowest = stage_terms(stages[slowest], job, ends[slowest], held_up(slowest), r);
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
