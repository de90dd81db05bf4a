#include "model/predict/step_price.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/plan/rank_layout.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// The links of a stage carry all that it exchanges with every micro-batch, and what the stages beside it do; they have nothing to carry
// while a micro-batch is alone on a stage elsewhere.
Seconds time_of_shared_links(const Prepared::State& job, const StagePrices& stages) {
    Seconds longest;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const Seconds on_links = stages[s].data.on_links;
        if (!(on_links > Seconds{})) continue;
        const std::vector<std::size_t>& mates = job.groups.mates[s].stages;
        Seconds elsewhere;
        for (std::size_t other = 0; other < stages.size(); ++other)
            if (other != s && !std::ranges::binary_search(mates, other)) elsewhere += stages.times[stages.which[other]].alone();
        longest = max(longest, static_cast<double>(job.micro_batches) * on_links + elsewhere - stages[s].data.behind);
    }
    return longest;
}

// But for what shared links carry.
Pipeline pipeline_alone(const Prepared::State& job, const StagePrices& stages) {
    const Plan& plan = job.scenario.plan;
    Pipeline p{plan.schedule, plan.vpp, static_cast<double>(job.micro_batches), plan.forward_only, {}, {}, {}, {}};
    if (plan.pp < 2 || !hides_sends(job)) return p;
    Seconds all;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        all += stages[s].send_forward;
        p.busiest_boundary = max(p.busiest_boundary, stages[s].send_forward);
        p.busiest_stage = max(p.busiest_stage, stages[s].send_forward + stages[s].send_backward);
    }
    const int boundaries = plan.pp * plan.vpp - (turns_back(plan.schedule) ? 2 : 1);
    p.hidden_send = all / boundaries;
    return p;
}

Pipeline pipeline_of(const Prepared::State& job, const StagePrices& stages) {
    Pipeline p = pipeline_alone(job, stages);
    if (stages.size() > 1) p.shared_links = time_of_shared_links(job, stages);
    return p;
}

// Exchanges that a stage alone falls behind with, micro-batch by micro-batch, catch up while it waits for other stages: by how much. They
// begin with the first backward, and where they leave nodes, so does what the stage sends to its neighbours.
Seconds caught_up(const Prepared::State& job, const StagePrices& stages, std::span<const Seconds> ends, std::size_t stage) {
    const StagePrice& s = stages[stage];
    if (!(s.data.queue > Seconds{})) return {};
    Seconds done = first_backward(pipeline_alone(job, stages), {stages.times, stages.which}, stage) + s.data.queue;
    for (std::size_t other = 0; other < stages.size(); ++other) done += stages[other].data.first_forward;
    if (job.groups.send.crosses_network && job.groups[stage][ParallelGroup::data].crosses_network)
        done += static_cast<double>(job.micro_batches) * (s.send_forward + s.send_backward);
    return max(Seconds{}, s.data.behind - max(s.data.behind_last, done - ends[stage]));
}

// By how much later the gradients of a stage are reduced at the end of the step, where others reduce theirs over the same links: whoever
// is done last has waited for all of them to go through.
Seconds held_up_at_end(const Prepared::State& job, const StagePrices& stages, std::span<const Seconds> ends, std::size_t stage) {
    const StageMates& mates = job.groups.mates[stage];
    if (!(mates.data > 1)) return {};
    const auto alone = [&](std::size_t s) { return ends[s] + stages[s].data.behind; };
    Seconds through;
    const auto goes_through = [&](std::size_t s) { through = max(through, alone(s) - stages[s].data.at_end) + stages[s].data.at_end; };
    for (auto mate = mates.stages.rbegin(); mate != mates.stages.rend() && *mate > stage; ++mate) goes_through(*mate);
    goes_through(stage);
    return std::min(1.0, mates.data_of_each()) * (through - alone(stage));
}

// From the first micro-batch that the first stage takes to the last. Stages pass on what they have, so that the slowest sets the pace: of
// forwards alone, where all are done before a backward, else of both.
Seconds taking_time(const Plan& plan, const StagePrices& stages, double micro_batches) {
    const bool in_turn = plan.schedule == Schedule::sequential || turns_back(plan.schedule);
    const bool forwards_first = plan.schedule == Schedule::gpipe || (!in_turn && micro_batches <= plan.pp);
    Seconds slowest, all;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const StagePrice& stage = stages[s];
        const Seconds pace = plan.pp > 1 && forwards_first ? stages.times[stages.which[s]].forward : stage.micro_batch();
        slowest = max(slowest, pace);
        all += pace;
    }
    const double further = micro_batches - 1;
    if (plan.schedule == Schedule::sequential) return further * all;
    // Until the first one comes back, forwards of the first chunk alone.
    const double at_first = turns_back(plan.schedule) ? std::min(further, 2.0 * plan.pp - 2) : 0;
    return at_first * stages.times[stages.which[0]].forward / plan.vpp + (further - at_first) * slowest;
}

StageWork slowed(StageWork work, double times) {
    const auto slow = [times](OwnWork& w) { w.kernels *= times; };
    for (StageWork::Passes& p : work.passes)
        for (OwnWork* w : {&p.forward, &p.checkpointed, &p.backward, &p.recompute_and_backward, &p.weights}) slow(*w);
    for (OwnWork* w : {&work.forward, &work.backward, &work.weights}) slow(*w);
    return work;
}

// By how much longer a stage takes that is alone in its pipeline: kernels that take longer hide more of the exchanges beside them.
Seconds lag_alone(const Prepared::State& job, const StagePrice& stage, double times, const Resources& r) {
    const auto takes = [&](const StageWork& work, const DataParallelPrice& data) {
        const Seconds each = work.forward.device() + work.backward.device() + data.steady;
        return static_cast<double>(job.micro_batches) * each + data.passing + data.launch + data.behind;
    };
    const StageWork slow = slowed(*stage.work, times);
    const DataParallelPrice data = price_data_parallel(job, 0, slow, stage_exchanges(job, 0, r), {}, stage.overhead, 1, r);
    return takes(slow, data) - takes(*stage.work, stage.data);
}

// By how much later a pipeline ends. Slow devices are the first ranks of the job, and the pipeline of the first has most of them.
Seconds lag_of_pipeline(const Prepared::State& job, const StagePrices& stages, double times) {
    const Scenario& s = job.scenario;
    const RankLayout layout(s.plan, job.nodes, s.cluster.node.devices);
    std::vector<StageTimes> slow;
    std::vector<std::size_t> each(stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) {
        each[i] = i;
        StageTimes& t = slow.emplace_back(stages.times[stages.which[i]]);
        if (layout.rank_at({.pipeline = static_cast<int>(i)}) >= s.straggler->devices) continue;
        const StageWork& work = *stages[i].work;
        t.forward += (times - 1) * work.forward.kernels;
        t.backward += (times - 1) * (work.backward.kernels - work.weights.kernels);
        t.weights += (times - 1) * work.weights.kernels;
    }
    const Pipeline pipeline = pipeline_of(job, stages);
    std::vector<Seconds> usual(stages.size()), late(stages.size());
    pipeline_ends(pipeline, {stages.times, stages.which}, usual);
    pipeline_ends(pipeline, {slow, each}, late);
    return max(Seconds{}, late.front() - usual.front());
}

// What noise and slow devices add to a step of these terms.
Seconds straggler_time(const Prepared::State& job, const StagePrices& stages, std::size_t stage, const UpdateTime& update, const Terms& t,
                       const Resources& r) {
    const Scenario& s = job.scenario;
    Seconds lag;
    if (s.has_slow_devices()) {
        const double times = 1 / s.straggler->speed;
        lag = stages.size() > 1 ? lag_of_pipeline(job, stages, times) : lag_alone(job, stages[stage], times, r);
        lag += (times - 1) * update.device;
    }
    if (s.plan.is_asynchronous()) {
        // Nobody waits: the slow devices only do fewer steps.
        if (!s.has_slow_devices()) return {};
        const double n = s.plan.devices(), slow = s.straggler->devices;
        const Seconds step = t.total();
        return n / ((n - slow) / step + slow / (step + lag)) - step;
    }
    if (s.step_noise > 0) lag += s.step_noise * expected_maximum(s.plan.devices()) * busy_time(job, stages[stage], update);
    return lag;
}

// Cores that several ranks share. Who waits for its pipeline leaves its core to the others: a stage with more work than they have gets more
// than its part, and all stages are done with the micro-batches, or with their update, in no less time than the cores have work.
struct SharedCores {
    double ranks = 1;               // to a core
    Seconds micro_batches, update;  // how long the cores have work
};

SharedCores shared_cores(const Prepared::State& job, const StagePrices& stages, std::span<const UpdateTime> updates) {
    SharedCores cores{job.ranks_per_core, {}, {}};
    for (std::size_t s = 0; s < stages.size(); ++s) {
        cores.micro_batches += static_cast<double>(job.micro_batches) * stages[s].micro_batch() + stages[s].data.passing;
        cores.update += updates[s].device;
    }
    cores.micro_batches /= static_cast<double>(stages.size());
    cores.update /= static_cast<double>(stages.size());
    return cores;
}

// The terms of a rank that shares its core, until `end` with no more than its part of it.
void share_core(Terms& t, Seconds end, const SharedCores& cores) {
    const Seconds needed = max(end / cores.ranks, cores.micro_batches), busy = end - t[Term::bubble];
    t[Term::bubble] = max(Seconds{}, needed - busy);
    const Seconds computes = t[Term::forward] + t[Term::backward] + t[Term::recompute];
    if (busy > needed)
        for (const Term term : {Term::forward, Term::backward, Term::recompute})
            t[term] *= std::max(1 / cores.ranks, 1 - (busy - needed) / computes);
    t[Term::optimizer] = min(t[Term::optimizer], max(t[Term::optimizer] / cores.ranks, cores.update));
}

// Behind the exchanges at the end of the micro-batches.
Seconds update_begins(const Prepared::State& job, const StagePrices& stages, std::span<const Seconds> ends, std::size_t stage) {
    return ends[stage] + held_up_at_end(job, stages, ends, stage) + stages[stage].data.behind - caught_up(job, stages, ends, stage);
}

// That the device waits for launches of its update. A host that does not wait for what stages send each other is ahead by all that they and
// the device took longer.
Seconds wait_in_update(const Prepared::State& job, const StagePrice& s, Seconds begins, const UpdateTime& update) {
    if (update.launches <= update.device) return {};
    const SegmentPrice& blocks = s.blocks();
    const bool waits = waits_for_transfers(job.scenario.plan, job.scenario.framework);
    const Seconds issued = static_cast<double>(job.micro_batches) * (blocks.forward.host + blocks.backward.host + blocks.recompute.host);
    return max(Seconds{}, update.launches - update.device - (waits ? Seconds{} : max(Seconds{}, begins - issued)));
}

// The step of the rank of one stage. While the pipeline waits for hosts, this one's is no exception.
Terms stage_terms(const Prepared::State& job, const StagePrices& stages, std::span<const Seconds> ends, std::span<const UpdateTime> updates,
                  std::size_t stage, const Resources& r) {
    const StagePrice& s = stages[stage];
    const UpdateTime& update = updates[stage];
    const Seconds end = ends[stage];
    const double m = static_cast<double>(job.micro_batches);
    const bool forward_only = job.scenario.plan.forward_only;
    const SegmentPrice& blocks = s.blocks();
    const PhasePrice &forward = blocks.forward, &backward = blocks.backward, &recompute = blocks.recompute;
    Terms t;
    t[Term::forward] = m * forward.device + (forward_only ? s.data.slowdown : Seconds{});
    t[Term::backward] = m * backward.device + (forward_only ? Seconds{} : s.data.slowdown);
    t[forward_only ? Term::forward : Term::backward] += m * s.beside_sends;
    t[Term::recompute] = m * recompute.device;
    for (const InLayer kind : all_in_layer) {
        t[term_of(kind)] = m * (forward.exchange[kind] + backward.exchange[kind] + recompute.exchange[kind]);
        t[term_of(kind)] += m * (forward.meeting[kind] + backward.meeting[kind] + recompute.meeting[kind]);
    }
    t[Term::pipeline_communication] = m * s.sends() + tied_sum_time(job, update, r);
    const Seconds waits = max(Seconds{}, end - m * s.micro_batch() - s.data.passing);
    const Seconds host = m * (forward.host + backward.host + recompute.host - s.micro_batch());
    t[Term::launch] = job.scenario.plan.pp == 1 ? s.data.launch : std::clamp(host, Seconds{}, waits);
    t[Term::bubble] = job.scenario.plan.pp == 1 ? Seconds{} : waits - t[Term::launch];
    t[Term::launch] += m * s.work->launch + wait_in_update(job, s, update_begins(job, stages, ends, stage), update);
    const Seconds exposed = s.data.exposed - caught_up(job, stages, ends, stage);
    t[Term::data_communication] = (1 - s.data.copied) * exposed + held_up_at_end(job, stages, ends, stage);
    t[Term::optimizer] = update.device;
    if (job.ranks_per_core > 1) share_core(t, end, shared_cores(job, stages, updates));
    t[Term::offload] = m * (forward.copies + backward.copies + recompute.copies) + s.data.copied * exposed + update.host;
    t[Term::overhead] = m * s.overhead + job.on_host(job.scenario.framework.step_overhead, r);
    t[Term::straggler] = straggler_time(job, stages, stage, update, t, r);
    return t;
}

}  // namespace

Seconds busy_time(const Prepared::State& job, const StagePrice& stage, const UpdateTime& update) {
    return static_cast<double>(job.micro_batches) * (stage.work->forward.kernels + stage.work->backward.kernels) + update.device;
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

void find_ends(const Prepared::State& job, const StagePrices& stages, std::span<Seconds> ends) {
    const Pipeline pipeline = pipeline_of(job, stages);
    const TimesOfStages times{stages.times, stages.which};
    if (stages.size() == 1) {
        ends[0] = pipeline.micro_batches * times[0].device() + times[0].passing + stages[0].data.launch;
    } else if (!job.played) {
        pipeline_ends(pipeline, times, ends);
    } else {
        const Seconds played = *std::ranges::max_element(ends);
        // The pace of the micro-batches that were played is that of many, unless a stage that is slower waited at first.
        const Seconds device = turns_back(pipeline.schedule) ? max(played, turning_time(pipeline, times)) : played;
        const Seconds later = held_up_by_hosts(pipeline, times, device) - played;
        for (Seconds& end : ends) end += later;
    }
}

StepPrice price_step(const Prepared::State& job, const StagePrices& stages, std::span<const Seconds> ends,
                     std::span<const UpdateTime> updates, const Resources& r) {
    StepPrice step;
    Seconds latest;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const Seconds begins = update_begins(job, stages, ends, s);
        const Seconds done =
            begins + wait_in_update(job, stages[s], begins, updates[s]) + tied_sum_time(job, updates[s], r) + updates[s].total();
        if (s == 0 || done > latest) step.last_stage = s, latest = done;
    }
    step.terms = stage_terms(job, stages, ends, updates, step.last_stage, r);
    step.caught_up = caught_up(job, stages, ends, step.last_stage);
    if (!job.input) return step;
    step.taking = taking_time(job.scenario.plan, stages, static_cast<double>(job.micro_batches));
    step.terms[Term::input] = input_wait(*job.input, {step.terms.total(), step.taking}, r);
    return step;
}

WholeStepPrice price_step(const Prepared::State& job, const StagePrices& stages, const Resources& r) {
    std::vector<Seconds> ends(stages.size());
    const PlayedPipeline alone = stages.played(ends);
    if (job.played) PipelinePlayer().play(*job.played, std::span(&alone, 1), job.micro_batches);
    find_ends(job, stages, ends);
    std::vector<UpdateTime> updates;
    for (std::size_t s = 0; s < stages.size(); ++s) updates.push_back(update_time(job, s, r));
    WholeStepPrice step{price_step(job, stages, ends, updates, r), 0, {}};
    for (std::size_t s = 0; s < stages.size(); ++s)
        if (stages[s].micro_batch() > stages[step.slowest_stage].micro_batch()) step.slowest_stage = s;
    step.slowest = stage_terms(job, stages, ends, updates, step.slowest_stage, r);
    step.slowest[Term::input] = step.terms[Term::input];
    return step;
}

}  // namespace sextant
