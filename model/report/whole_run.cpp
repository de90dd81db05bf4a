#include "model/report/whole_run.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/plan/partition.hpp"
#include "model/predict/state.hpp"
#include "model/report/running_cost.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// What steps of the first epoch take longer than later ones.
Seconds first_epoch_of(const InputEstimate& input, const Estimate& e, double steps) {
    constexpr double rounding = 1e-9;
    const Seconds longer = input.first_wait - e.terms[Term::input];
    if (input.steps_per_epoch <= 0 || longer <= rounding * e.step) return {};
    return std::min(steps, input.steps_per_epoch) * longer;
}

// The mean time between failures of the whole job, which any of its devices and nodes stops.
Seconds between_failures(const Failures& f, const Scenario& s) {
    Frequency rate;
    if (f.device_mtbf) rate += s.plan.devices() / *f.device_mtbf;
    if (f.node_mtbf) rate += used_nodes(s) / *f.node_mtbf;
    return 1 / rate;
}

// A checkpoint that is written beside training counts once it is there: what was done meanwhile is lost as well.
FailingJob failing_job(const Failures& f, const Scenario& s, const std::optional<CheckpointEstimate>& c) {
    FailingJob job{between_failures(f, s), f.detection + f.restart};
    if (c) job.restart += c->read + max(Seconds{}, c->write - c->wait);
    return job;
}

Seconds segment_of(const Report& r, Seconds whole) {
    return r.checkpoints ? min(whole, r.checkpoints->steps * r.estimate.step + r.checkpoints->wait) : whole;
}

// The interval that makes the run shortest, none of it shorter than a checkpoint is written; `training`: without checkpoints.
BestCheckpoints best_checkpoints(const RunCost& cost, const Report& r, const FailingJob& job, Seconds training) {
    const CheckpointEstimate& c = *r.checkpoints;
    const Seconds step = r.estimate.step, interval = max(best_checkpoint_interval(c.wait, job.between), c.write - c.wait);
    BestCheckpoints best;
    best.steps = std::clamp(std::round(interval / step), 1.0, std::max(1.0, cost.steps));
    best.interval = best.steps * step;
    const Seconds run = training + std::floor(cost.steps / best.steps) * c.wait;
    best.goodput = cost.steps * step / (cost.staging + times_as_long(min(run, best.interval + c.wait), job) * run);
    return best;
}

}  // namespace

RunCost run_cost(const Scenario& s, double samples, const Report& r) {
    RunCost cost;
    cost.steps = std::ceil(samples / static_cast<double>(s.plan.global_batch));
    const Seconds steps = cost.steps * r.estimate.step;
    if (r.input) {
        cost.staging = r.input->staging.after(steps).total();
        cost.first_epoch = first_epoch_of(*r.input, r.estimate, cost.steps);
    }
    if (r.checkpoints) cost.checkpoints = std::floor(cost.steps / r.checkpoints->steps) * r.checkpoints->wait;
    const Seconds undisturbed = steps + cost.first_epoch + cost.checkpoints;
    if (s.run.failures) {
        const FailingJob job = failing_job(*s.run.failures, s, r.checkpoints);
        cost.failures = (times_as_long(segment_of(r, undisturbed), job) - 1) * undisturbed;
        cost.failing = FailureEstimate{job, (undisturbed + cost.failures) / job.between, {}};
        if (r.checkpoints) cost.failing->best = best_checkpoints(cost, r, job, steps + cost.first_epoch);
    }
    cost.time = cost.staging + undisturbed + cost.failures;
    if (cost.time > Seconds{}) cost.goodput = steps / cost.time;
    cost.device_time = r.reserved_devices * cost.time;
    if (const std::optional<MoneyRate> rent = device_rent(s)) cost.cost = r.reserved_devices * (*rent * cost.time);
    cost.energy = power_drawn(s, r.utilization, r.reserved_devices) * cost.time;
    return cost;
}

SweepTask sweep_task(const Prepared& job, const Report& r) {
    SweepTask task{r.run->time, {}};
    const DataSource& data = job.scenario().data;
    const auto& in = job.state().input;
    if (!in || !data.samples) return task;
    // `samples` of them from this source.
    const auto add = [&](const SampleSource& source, double samples) {
        for (const StorageDemand& d : storage_demands(source, {}, data.others)) {
            if (d.of_node) continue;
            auto of_limit = std::ranges::find(task.shared, d.limit, &SharedTime::limit);
            if (of_limit == task.shared.end()) of_limit = task.shared.insert(of_limit, {d.limit, {}});
            of_limit->time += samples * d.of_sample / d.per_second * units::s;
        }
    };
    const double epochs = r.run->steps / r.input->steps_per_epoch, samples = static_cast<double>(*data.samples);
    if (in->copy) add(copied_from(*in->copy), in->copy->nodes * in->copy->samples);
    for (const SampleSource& source : in->first) add(source, std::min(1.0, epochs) * samples);
    for (const SampleSource& source : in->later) add(source, std::max(0.0, epochs - 1) * samples);
    return task;
}

std::optional<std::string> interval_advice(const Report& r) {
    constexpr double worth_it = 0.01;
    if (!r.run || !r.run->failing) return {};
    if (!r.checkpoints && r.run->failures < worth_it * r.run->time) return {};
    if (!r.checkpoints)
        return "a failure every " + to_text(r.run->failing->job.between) +
               ", and nothing is saved: state data.checkpoints, or each starts over";
    const BestCheckpoints& best = *r.run->failing->best;
    if (best.goodput - r.run->goodput < worth_it) return {};
    return "checkpoints every " + grouped_digits(best.steps) + " steps (" + to_text(best.interval) + ") instead of every " +
           grouped_digits(r.checkpoints->steps) + ": goodput " + percent_text(best.goodput) + " instead of " + percent_text(r.run->goodput);
}

std::vector<std::string> explain_run(const Prepared& prepared) {
    const Report r = make_report(prepared);
    if (!r.run) return {"the scenario does not say how long it runs: run.tokens, samples or epochs"};
    const RunCost& run = *r.run;
    std::vector<std::string> lines = {"run = staging + (steps x step + slower first epoch + checkpoints) x slowdown by failures",
                                      "  " + grouped_digits(run.steps) + " steps of " + to_text(r.estimate.step) + ", staging " +
                                          to_text(run.staging) + ", slower first epoch " + to_text(run.first_epoch)};
    if (r.checkpoints)
        lines.push_back("  checkpoints: floor(" + grouped_digits(run.steps) + " / " + grouped_digits(r.checkpoints->steps) + ") x " +
                        to_text(r.checkpoints->wait));
    if (run.failing) {
        const FailingJob& job = run.failing->job;
        const Failures& f = *prepared.scenario().run.failures;
        const Seconds segment = segment_of(r, run.time - run.staging - run.failures);
        std::string rate = "  M = 1 / (";
        if (f.device_mtbf) rate += grouped_digits(r.devices) + " devices / " + to_text(*f.device_mtbf);
        if (f.node_mtbf)
            rate += (f.device_mtbf ? " + " : "") + grouped_digits(used_nodes(prepared.scenario())) + " nodes / " + to_text(*f.node_mtbf);
        lines.emplace_back("failures: M e^(R/M) (e^(w/M) - 1) / w times as long (Daly 2006), w the work from one checkpoint to the next");
        lines.push_back(rate + ") = " + to_text(job.between) + ", w " + to_text(segment));
        lines.push_back("  R " + to_text(job.restart) + ": detection " + to_text(f.detection) + ", restart " + to_text(f.restart) +
                        (r.checkpoints ? ", reading the checkpoint back " + to_text(r.checkpoints->read) : ""));
        lines.push_back("  " + number_text(times_as_long(segment, job), 4) + " times as long: " + to_text(run.failures) + " more");
    }
    lines.push_back("= " + to_text(run.time) + ", goodput " + percent_text(run.goodput));
    const Device& device = prepared.scenario().cluster.node.device;
    lines.push_back("energy: " + to_text(run.energy / run.time) + " x " + to_text(run.time) + " = " + to_text(run.energy) +
                    "; a device draws " + to_text(device.idle_power.value) + " idle and " + to_text(device.power.value) + " at work, " +
                    percent_text(r.utilization) + " of the time, and each node " +
                    to_text(prepared.scenario().cluster.node.base_power.value) + " beside its devices");
    if (run.cost)
        lines.push_back("cost: " + grouped_digits(r.reserved_devices) + " devices x " + to_text(run.time) + " x " +
                        to_text(*run.cost / run.device_time) + " = " + grouped_digits(run.cost->si(), 3) + " USD");
    return lines;
}

}  // namespace sextant
