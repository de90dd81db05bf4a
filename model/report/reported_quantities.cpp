// Every number of a report by its name. A test walks the JSON and finds each of them here (tests/io/reported_quantities_test.cpp).
#include "model/base/enum_names.hpp"
#include "model/report/condition.hpp"
#include "model/report/levers.hpp"
#include "model/report/simulation_report.hpp"

#include <algorithm>

namespace sextant {
namespace {

using Quantities = std::vector<NamedQuantity>;

template <class Q>
void add_with_interval(Quantities& list, const std::string& name, Q q, const Report& r) {
    const Interval<Q> i = interval_of(q, r);
    list.emplace_back(name, q);
    list.emplace_back(name + "_low", i.low);
    list.emplace_back(name + "_high", i.high);
}

void add_step(Quantities& list, const Report& r) {
    const Estimate& e = r.estimate;
    list.emplace_back("step_time", e.step);
    list.emplace_back("step_time_low", r.low);
    list.emplace_back("step_time_high", r.high);
    list.emplace_back("samples_per_s", r.samples_per_s);
    if (r.tokens_per_s) list.emplace_back("tokens_per_s", *r.tokens_per_s);
    list.emplace_back("memory", e.peak_memory);
    list.emplace_back("device_memory", e.device_memory);
    list.emplace_back("host_memory", e.host.total());
    list.emplace_back("host_memory_there", e.host.there);
    list.emplace_back("fits", e.fits() ? 1 : 0).yes_or_no = true;
    list.emplace_back("largest_micro_batch", static_cast<double>(r.batch.largest_micro_batch));
    list.emplace_back("mfu", r.mfu);
    list.emplace_back("hfu", r.hfu);
    list.emplace_back("model_flops", e.model_flops.si());
    list.emplace_back("scaling_efficiency", r.scaling_efficiency);
    list.emplace_back("utilization", r.utilization);
    list.emplace_back("devices", r.devices);
    list.emplace_back("reserved_devices", r.reserved_devices);
    list.emplace_back("effective_batch", static_cast<double>(r.batch.effective_batch));
}

void add_parts(Quantities& list, const Estimate& e) {
    for (const Term t : all_terms) {
        list.emplace_back("terms." + std::string(to_text(t)), e.terms[t]);
        list.emplace_back("overlapped." + std::string(to_text(t)), e.overlapped[t]);
        list.emplace_back("share." + std::string(to_text(t)), e.terms[t] / e.step);
    }
    const StageMemory fullest = e.memory.empty() ? StageMemory{} : e.memory[e.fullest_stage()];
    for (const MemoryKind kind : all_memory_kinds) list.emplace_back("memory." + std::string(to_text(kind)), fullest[kind]);
}

// Doubling a resource that is not listed gains nothing.
void add_bottleneck(Quantities& list, const Report& r) {
    const Bottleneck& b = r.bottleneck;
    list.emplace_back("bottleneck", static_cast<double>(b.kind)).words = enumerator_names(all_bottleneck_kinds);
    if (b.changes_at) list.emplace_back("bottleneck.changes_at_factor", *b.changes_at);
    std::vector<std::string_view> resources = {evenness_of_workers};
    for (const Lever& lever : all_levers()) resources.push_back(lever.resource);
    for (const std::string_view resource : resources) {
        const auto mover = std::ranges::find(b.movers, resource, &Mover::resource);
        std::string name = "movers." + std::string(resource);
        std::ranges::replace(name, ' ', '_');
        list.emplace_back(name + ".gain", mover == b.movers.end() ? 0 : mover->gain);
        list.emplace_back(name + ".step_time_at_double", mover == b.movers.end() ? r.estimate.step : mover->step_at_double);
    }
}

void add_input(Quantities& list, const InputEstimate& i) {
    const auto add_epoch = [&](const std::string& name, const LoaderRate& rate, Seconds loading) {
        list.emplace_back(name + ".node_samples_per_s", rate.samples);
        list.emplace_back(name + ".read_sample", rate.reading);
        list.emplace_back(name + ".work_on_sample", rate.work);
        list.emplace_back(name + ".load_step", loading);
    };
    add_epoch("input.first_epoch", i.first, i.first_loading);
    add_epoch("input.later_epochs", i.later, i.later_loading);
    list.emplace_back("input.first_epoch_wait", i.first_wait);
    list.emplace_back("input.copies_to_device", i.copies);
    list.emplace_back("input.steps_per_epoch", i.steps_per_epoch);
    list.emplace_back("input.cached_share", i.cached);
    list.emplace_back("input.staged_share", i.staged);
    list.emplace_back("input.staging", i.staging.total());
    list.emplace_back("input.staging.copy", i.staging.copy);
    list.emplace_back("input.staging.unpack", i.staging.unpack);
    list.emplace_back("input.staging.remove", i.staging.remove);
    list.emplace_back("input.write_dataset", i.writing);
}

void add_checkpoints(Quantities& list, const CheckpointEstimate& c) {
    list.emplace_back("checkpoints.size", c.bytes);
    list.emplace_back("checkpoints.write", c.write);
    list.emplace_back("checkpoints.wait", c.wait);
    list.emplace_back("checkpoints.read", c.read);
    list.emplace_back("checkpoints.every_steps", c.steps);
}

void add_failures(Quantities& list, const FailureEstimate& f) {
    list.emplace_back("run.failures.expected", f.expected);
    list.emplace_back("run.failures.between", f.job.between);
    list.emplace_back("run.failures.restart", f.job.restart);
    if (!f.best) return;
    list.emplace_back("run.failures.best_checkpoints.every_steps", f.best->steps);
    list.emplace_back("run.failures.best_checkpoints.interval", f.best->interval);
    list.emplace_back("run.failures.best_checkpoints.goodput", f.best->goodput);
}

void add_run(Quantities& list, const RunCost& run, const Report& r) {
    list.emplace_back("run.steps", run.steps);
    add_with_interval(list, "run.time", run.time, r);
    list.emplace_back("run.device_hours", run.device_time / units::hour);
    add_with_interval(list, "run.energy", run.energy, r);
    list.emplace_back("run.goodput", run.goodput);
    list.emplace_back("run.staging", run.staging);
    list.emplace_back("run.first_epoch", run.first_epoch);
    list.emplace_back("run.checkpoints", run.checkpoints);
    list.emplace_back("run.failures", run.failures);
    if (run.failing) add_failures(list, *run.failing);
    if (run.cost) add_with_interval(list, "run.cost", *run.cost, r);
}

void add_sweep(Quantities& list, const SweepEstimate& s) {
    const auto add_grouping = [&](const std::string& name, const Grouping& g) {
        list.emplace_back(name + ".tasks_per_job", static_cast<double>(g.tasks_per_job));
        list.emplace_back(name + ".jobs", static_cast<double>(g.jobs));
        list.emplace_back(name + ".job", g.job);
        list.emplace_back(name + ".time", g.time);
    };
    add_grouping("sweep", s.best);
    list.emplace_back("sweep.ungrouped_time", s.ungrouped);
    if (s.faster) add_grouping("sweep.faster", *s.faster);
    if (s.bound) list.emplace_back("sweep.storage_bound_from_jobs", s.bound->jobs);
}

Quantities quantities_of(const Report& r, std::optional<double> staleness) {
    Quantities list;
    add_step(list, r);
    if (staleness) list.emplace_back("staleness.mean", *staleness);
    add_parts(list, r.estimate);
    add_bottleneck(list, r);
    if (r.input) add_input(list, *r.input);
    if (r.checkpoints) add_checkpoints(list, *r.checkpoints);
    if (r.run) add_run(list, *r.run, r);
    if (r.sweep) add_sweep(list, *r.sweep);
    if (r.batch.linear_rate)
        for (const std::string name : {"learning_rate", "run.learning_rate"}) {
            list.emplace_back(name + ".linear", *r.batch.linear_rate);
            list.emplace_back(name + ".square_root", *r.batch.square_root_rate);
        }
    return list;
}

}  // namespace

std::vector<NamedQuantity> named_quantities(const Report& r) { return quantities_of(r, r.staleness); }

std::vector<NamedQuantity> named_quantities(const SimulationReport& s) {
    Quantities list = quantities_of(s.report, s.staleness ? s.staleness->mean : s.report.staleness);  // as it was played
    list.emplace_back("predicted_step_time", s.predicted_step);
    list.emplace_back("seed", static_cast<double>(s.jitter.seed));
    list.emplace_back("noise", s.jitter.noise);
    list.emplace_back("events", static_cast<double>(s.events));
    list.emplace_back("steps", s.steps);
    if (s.staleness) {
        list.emplace_back("staleness.largest", s.staleness->largest);
        list.emplace_back("staleness.updates", s.staleness->updates);
    }
    list.emplace_back("critical_path.seconds", s.critical_path.seconds.si());
    list.emplace_back("critical_path.waiting", s.critical_path.waiting);
    list.emplace_back("critical_path.spans", static_cast<double>(s.critical_path.spans.size()));
    for (const SpanKind kind : all_span_kinds) {
        list.emplace_back("critical_path.by_kind." + std::string(to_text(kind)), s.critical_path.by_kind[kind]);
    }
    return list;
}

std::vector<NamedQuantity> simulated_quantities(const Prepared& job) {
    SimulationReport any;
    any.report = make_report(job);
    if (job.scenario().plan.is_asynchronous()) any.staleness = Staleness{};
    return named_quantities(any);
}

}  // namespace sextant
