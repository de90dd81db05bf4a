#include "model/predict/step_price.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/plan/rank_layout.hpp"
#include "model/predict/priced_pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// A stage's kernels slowed down by a factor, all else as it was.
StageWork slowed(StageWork work, double times) {
    const auto slow = [times](OwnWork& w) { w.kernels *= times; };
    for (StageWork::Passes& p : work.passes)
        for (OwnWork* w : {&p.forward, &p.checkpointed, &p.backward, &p.recompute_and_backward, &p.weights}) slow(*w);
    for (OwnWork* w : {&work.forward, &work.backward, &work.weights}) slow(*w);
    return work;
}

// Puts a step together. `ends`: when each stage ends its passes.
class StepPricer {
public:
    StepPricer(const Prepared::State& job, const StagePrices& stages, std::span<const Seconds> ends, std::span<const UpdateTime> updates,
               const Resources& r)
        : job_(job), plan_(job.scenario.plan), stages_(stages), ends_(ends), updates_(updates), r_(r), pipeline_(job, stages) {}

    [[nodiscard]] StepPrice price() const {
        StepPrice step;
        step.last_stage = last_stage();
        step.terms = terms(step.last_stage);
        step.caught_up = caught_up(step.last_stage);
        if (!job_.input) return step;
        step.taking = pipeline_.taking_time();
        step.terms[Term::input] = input_wait(*job_.input, {step.terms.total(), step.taking}, r_);
        return step;
    }

    // The step as a rank of one stage spends it. While the pipeline waits for hosts, this rank's host is no exception.
    [[nodiscard]] Terms terms(std::size_t stage) const {
        Terms t;
        add_passes(t, stage);
        add_waiting(t, stage);
        const StagePrice& s = stages_[stage];
        const Seconds exposed = s.data.exposed - caught_up(stage);
        t[Term::data_communication] = (1 - s.data.copied) * exposed + held_up_at_end(stage);
        t[Term::optimizer] = updates_[stage].device;
        if (job_.nodes.ranks_per_core > 1) share_core(t, ends_[stage], shared_cores());
        const SegmentPrice& blocks = s.blocks();
        t[Term::offload] = micro_batches() * (blocks.forward.copies + blocks.backward.copies + blocks.recompute.copies) +
                           s.data.copied * exposed + updates_[stage].host;
        t[Term::overhead] = micro_batches() * s.overhead + job_.on_host(job_.scenario.framework.step_overhead, r_);
        t[Term::straggler] = straggler_time(stage, t);
        return t;
    }

private:
    [[nodiscard]] double micro_batches() const { return static_cast<double>(job_.micro_batches); }

    [[nodiscard]] std::size_t last_stage() const {
        std::size_t last = 0;
        Seconds latest;
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            const Seconds begins = update_begins(s);
            const Seconds done = begins + wait_in_update(s, begins) + tied_sum_time(job_, updates_[s], r_) + updates_[s].total();
            if (s == 0 || done > latest) {
                last = s;
                latest = done;
            }
        }
        return last;
    }

    // The passes of all micro-batches, and what stages send each other.
    void add_passes(Terms& t, std::size_t stage) const {
        const StagePrice& s = stages_[stage];
        const double m = micro_batches();
        const SegmentPrice& blocks = s.blocks();
        const PhasePrice &forward = blocks.forward, &backward = blocks.backward, &recompute = blocks.recompute;
        t[Term::forward] = m * forward.device + s.data.in_forward;
        const Seconds slowed = s.data.slowdown - s.data.in_forward;
        const double again = recompute.device > Seconds{} ? recompute.device / (backward.device + recompute.device) : 0;
        t[Term::backward] = m * backward.device + (1 - again) * slowed;
        t[plan_.forward_only ? Term::forward : Term::backward] += m * s.beside_sends;
        t[Term::recompute] = m * recompute.device + again * slowed;
        ByInLayer<Seconds> longer;  // beside exchanges of data parallelism all the time
        for (const InLayer kind : all_in_layer) {
            t[term_of(kind)] = m * (forward.exchange[kind] + backward.exchange[kind] + recompute.exchange[kind]);
            t[term_of(kind)] += m * (forward.meeting[kind] + backward.meeting[kind] + recompute.meeting[kind]);
            longer[kind] =
                (job_.groups[stage].beside_data[kind].one - 1) * (forward.flowing[kind] + backward.flowing[kind] + recompute.flowing[kind]);
        }
        if (const Seconds all = longer.sum(); all > Seconds{})
            for (const InLayer kind : all_in_layer) t[term_of(kind)] += longer[kind] / all * s.data.lengthened;
        t[Term::pipeline_communication] = m * s.sends() + tied_sum_time(job_, updates_[stage], r_);
    }

    // For the other stages, and for the host.
    void add_waiting(Terms& t, std::size_t stage) const {
        const StagePrice& s = stages_[stage];
        const double m = micro_batches();
        const Seconds waits = max(Seconds{}, ends_[stage] - m * s.micro_batch() - s.data.passing);
        const Seconds host = m * (host_time_of_passes(s) - s.micro_batch());
        t[Term::launch] = plan_.pp == 1 ? s.data.launch : std::clamp(host, Seconds{}, waits);
        t[Term::bubble] = plan_.pp == 1 ? Seconds{} : waits - t[Term::launch];
        t[Term::launch] += m * s.work->launch + wait_in_update(stage, update_begins(stage));
    }
    [[nodiscard]] static Seconds host_time_of_passes(const StagePrice& s) {
        const SegmentPrice& blocks = s.blocks();
        return blocks.forward.host + blocks.backward.host + blocks.recompute.host;
    }

    // A stage that falls behind with its own exchanges, micro-batch by micro-batch, catches up while it waits for other stages: by this
    // much. Its exchanges begin with the first backward; where they leave nodes, so does what the stage sends to its neighbours.
    [[nodiscard]] Seconds caught_up(std::size_t stage) const {
        const StagePrice& s = stages_[stage];
        if (!(s.data.queue > Seconds{})) return {};
        Seconds done = first_backward(pipeline_.without_shared_links(), pipeline_.times(), stage) + s.data.queue;
        for (std::size_t other = 0; other < stages_.size(); ++other) done += stages_[other].data.first_forward;
        if (job_.groups.send.crosses_network && job_.groups[stage][ParallelGroup::data].crosses_network)
            done += micro_batches() * (s.send_forward + s.send_backward);
        return max(Seconds{}, s.data.behind - max(s.data.behind_last, done - ends_[stage]));
    }

    // How much later the gradients of a stage are reduced at the end of the step because others reduce theirs over the same links: the
    // one that is done last has waited for all of them to go through.
    [[nodiscard]] Seconds held_up_at_end(std::size_t stage) const {
        const StageMates& mates = job_.groups.mates[stage];
        if (!(mates.data > 1)) return {};
        const auto alone = [&](std::size_t s) { return ends_[s] + stages_[s].data.behind; };
        Seconds through;
        const auto goes_through = [&](std::size_t s) {
            through = max(through, alone(s) - stages_[s].data.at_end) + stages_[s].data.at_end;
        };
        for (auto mate = mates.stages.rbegin(); mate != mates.stages.rend() && *mate > stage; ++mate) goes_through(*mate);
        goes_through(stage);
        return std::min(1.0, mates.data_of_each()) * (through - alone(stage));
    }

    // After the exchanges at the end of the micro-batches.
    [[nodiscard]] Seconds update_begins(std::size_t stage) const {
        return ends_[stage] + held_up_at_end(stage) + stages_[stage].data.behind - caught_up(stage);
    }

    // How long the device waits for the launches of its update. A host that does not wait for what stages send each other is ahead by the
    // time that transfers and the device took beyond its own.
    [[nodiscard]] Seconds wait_in_update(std::size_t stage, Seconds begins) const {
        const UpdateTime& update = updates_[stage];
        if (update.launches <= update.device) return {};
        const bool waits = waits_for_transfers(plan_, job_.scenario.framework);
        const Seconds issued = micro_batches() * host_time_of_passes(stages_[stage]);
        return max(Seconds{}, update.launches - update.device - (waits ? Seconds{} : max(Seconds{}, begins - issued)));
    }

    // How much later a stage that is alone in its pipeline ends with kernels that take `times` as long: these
    // hide more of the exchanges beside them.
    [[nodiscard]] Seconds lag_alone(const StagePrice& stage, double times) const {
        const auto takes = [&](const StageWork& work, const DataParallelPrice& data) {
            const Seconds each = work.forward.device() + work.backward.device() + data.steady;
            return micro_batches() * each + data.passing + data.launch + data.behind;
        };
        const StageWork slow = slowed(*stage.work, times);
        const DataParallelPrice data = price_data_parallel(job_, 0, slow, stage_exchanges(job_, 0, r_), {.overhead = stage.overhead}, r_);
        return takes(slow, data) - takes(*stage.work, stage.data);
    }

    // How much later a pipeline ends. Slow devices are the first ranks of the job, and the pipeline of the first rank has most of them.
    [[nodiscard]] Seconds lag_of_pipeline(double times) const {
        const Scenario& s = job_.scenario;
        const RankLayout layout(s.plan, job_.nodes.count, s.cluster.node.devices);
        std::vector<StageTimes> slow;
        std::vector<std::size_t> each(stages_.size());
        for (std::size_t i = 0; i < stages_.size(); ++i) {
            each[i] = i;
            StageTimes& t = slow.emplace_back(pipeline_.times()[i]);
            if (layout.rank_at({.pipeline = static_cast<int>(i)}) >= s.straggler->devices) continue;
            const StageWork& work = *stages_[i].work;
            t.forward += (times - 1) * work.forward.kernels;
            t.backward += (times - 1) * (work.backward.kernels - work.weights.kernels);
            t.weights += (times - 1) * work.weights.kernels;
        }
        const Pipeline pipeline = pipeline_.whole();
        std::vector<Seconds> usual(stages_.size()), late(stages_.size());
        pipeline_ends(pipeline, pipeline_.times(), usual);
        pipeline_ends(pipeline, {slow, each}, late);
        return max(Seconds{}, std::ranges::max(late) - std::ranges::max(usual));
    }

    // What noise and slow devices add to a step of these terms.
    [[nodiscard]] Seconds straggler_time(std::size_t stage, const Terms& t) const {
        const Scenario& s = job_.scenario;
        const UpdateTime& update = updates_[stage];
        Seconds lag;
        if (s.has_slow_devices()) {
            const double times = 1 / s.straggler->speed;
            lag = stages_.size() > 1 ? lag_of_pipeline(times) : lag_alone(stages_[stage], times);
            lag += (times - 1) * update.device;
        }
        if (plan_.is_asynchronous()) {
            // Nobody waits: the slow devices only do fewer steps.
            if (!s.has_slow_devices()) return {};
            const double n = plan_.devices(), slow = s.straggler->devices;
            const Seconds step = t.total();
            return n / ((n - slow) / step + slow / (step + lag)) - step;
        }
        if (s.step_noise > 0) lag += s.step_noise * expected_maximum(plan_.devices()) * busy_time(job_, stages_[stage], update);
        return lag;
    }

    // Cores that several ranks share. A rank that waits for its pipeline leaves its core to the others: a stage with more work than they
    // have gets more than its part of the core, and no stage is done with the micro-batches, or with its update, sooner than the cores
    // have done the work of all.
    struct SharedCores {
        Seconds micro_batches, update;  // how long the cores have work
    };
    [[nodiscard]] SharedCores shared_cores() const {
        SharedCores cores;
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            cores.micro_batches += micro_batches() * stages_[s].micro_batch() + stages_[s].data.passing;
            cores.update += updates_[s].device;
        }
        cores.micro_batches /= static_cast<double>(stages_.size());
        cores.update /= static_cast<double>(stages_.size());
        return cores;
    }

    // The terms of a rank that shares its core; with no more than its part of the core it ends its passes at `end`.
    void share_core(Terms& t, Seconds end, const SharedCores& cores) const {
        const double ranks = job_.nodes.ranks_per_core;
        const Seconds needed = max(end / ranks, cores.micro_batches), busy = end - t[Term::bubble];
        t[Term::bubble] = max(Seconds{}, needed - busy);
        const Seconds computes = t[Term::forward] + t[Term::backward] + t[Term::recompute];
        if (busy > needed)
            for (const Term term : {Term::forward, Term::backward, Term::recompute})
                t[term] *= std::max(1 / ranks, 1 - (busy - needed) / computes);
        t[Term::optimizer] = min(t[Term::optimizer], max(t[Term::optimizer] / ranks, cores.update));
    }

    const Prepared::State& job_;
    const Plan& plan_;
    const StagePrices& stages_;
    std::span<const Seconds> ends_;
    std::span<const UpdateTime> updates_;
    const Resources& r_;
    PricedPipeline pipeline_;
};

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
    const PricedPipeline priced(job, stages);
    const Pipeline pipeline = priced.whole();
    const TimesOfStages times = priced.times();
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
    return StepPricer(job, stages, ends, updates, r).price();
}

WholeStepPrice price_step(const Prepared::State& job, const StagePrices& stages, const Resources& r) {
    std::vector<Seconds> ends(stages.size());
    const PlayedPipeline alone = stages.played(ends);
    if (job.played) PipelinePlayer().play(*job.played, std::span(&alone, 1), job.micro_batches);
    find_ends(job, stages, ends);
    std::vector<UpdateTime> updates;
    for (std::size_t s = 0; s < stages.size(); ++s) updates.push_back(update_time(job, s, r));
    const StepPricer pricer(job, stages, ends, updates, r);
    WholeStepPrice step{pricer.price(), 0, {}};
    for (std::size_t s = 0; s < stages.size(); ++s)
        if (stages[s].micro_batch() > stages[step.slowest_stage].micro_batch()) step.slowest_stage = s;
    step.slowest = pricer.terms(step.slowest_stage);
    step.slowest[Term::input] = step.terms[Term::input];
    return step;
}

}  // namespace sextant
