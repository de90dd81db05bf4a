// Every number of a report by its name. A test walks the JSON and finds each of them here (tests/io/reported_quantities_test.cpp).
#include "model/report/condition.hpp"
#include "model/report/levers.hpp"
#include "model/report/simulation_report.hpp"

#include <algorithm>

namespace sextant {
namespace {

class Quantities {
public:
    template <int B, int F, int S, int J, int M>
    void add(std::string name, Quantity<B, F, S, J, M> q) {
        list_.push_back({std::move(name), q.si(), &unit_table<Quantity<B, F, S, J, M>>()});
    }
    void add(std::string name, double plain) { list_.push_back({std::move(name), plain, nullptr}); }
    void add(std::string name, Frequency rate) { add(std::move(name), rate.si()); }  // its unit is in its name
    void add_all(const NamedQuantity& q) { list_.push_back(q); }
    template <class Q>
    void add_with_interval(const std::string& name, Q q, const Report& r) {
        const Interval<Q> i = interval_of(q, r);
        add(name, q);
        add(name + "_low", i.low);
        add(name + "_high", i.high);
    }
    std::vector<NamedQuantity> take() { return std::move(list_); }

private:
    std::vector<NamedQuantity> list_;
};

void add_step(Quantities& list, const Report& r) {
    const Estimate& e = r.estimate;
    list.add("step_time", e.step);
    list.add("step_time_low", r.low);
    list.add("step_time_high", r.high);
    list.add("samples_per_s", r.samples_per_s);
    if (r.tokens_per_s) list.add("tokens_per_s", *r.tokens_per_s);
    list.add("memory", e.peak_memory);
    list.add("device_memory", e.device_memory);
    list.add("host_memory", e.host.total());
    list.add("host_memory_there", e.host.there);
    list.add_all({"fits", e.fits() ? 1.0 : 0.0, nullptr, true, {}});
    list.add("largest_micro_batch", static_cast<double>(r.batch.largest_micro_batch));
    list.add("mfu", r.mfu);
    list.add("hfu", r.hfu);
    list.add("model_flops", e.model_flops.si());
    list.add("scaling_efficiency", r.scaling_efficiency);
    list.add("utilization", r.utilization);
    list.add("devices", r.devices);
    list.add("reserved_devices", r.reserved_devices);
    list.add("effective_batch", static_cast<double>(r.batch.effective_batch));
}

void add_parts(Quantities& list, const Estimate& e) {
    for (const Term t : all_terms) {
        list.add("terms." + std::string(to_text(t)), e.terms[t]);
        list.add("overlapped." + std::string(to_text(t)), e.overlapped[t]);
        list.add("share." + std::string(to_text(t)), e.terms[t] / e.step);
    }
    const auto fullest = std::ranges::max_element(e.memory, {}, &StageMemory::total);
    for (const MemoryKind kind : all_memory_kinds) {
        list.add("memory." + std::string(to_text(kind)), fullest == e.memory.end() ? Bytes{} : (*fullest)[kind]);
    }
}

// Of a resource that is not listed twice of it gains nothing.
void add_bottleneck(Quantities& list, const Report& r) {
    const Bottleneck& b = r.bottleneck;
    std::vector<std::string_view> kinds;
    for (int k = 0; k <= static_cast<int>(BottleneckKind::io); ++k) kinds.push_back(to_text(static_cast<BottleneckKind>(k)));
    list.add_all({"bottleneck", static_cast<double>(b.kind), nullptr, false, std::move(kinds)});
    if (b.changes_at) list.add("bottleneck.changes_at_factor", *b.changes_at);
    std::vector<std::string_view> resources = {evenness_of_workers};
    for (const Lever& lever : all_levers()) resources.push_back(lever.resource);
    for (const std::string_view resource : resources) {
        const auto mover = std::ranges::find(b.movers, resource, &Mover::resource);
        std::string name = "movers." + std::string(resource);
        std::ranges::replace(name, ' ', '_');
        list.add(name + ".gain", mover == b.movers.end() ? 0 : mover->gain);
        list.add(name + ".step_time_at_double", mover == b.movers.end() ? r.estimate.step : mover->step_at_double);
    }
}

void add_input(Quantities& list, const InputEstimate& i) {
    const auto add_epoch = [&](const std::string& name, const LoaderRate& rate, Seconds loading) {
        list.add(name + ".node_samples_per_s", rate.samples);
        list.add(name + ".read_sample", rate.reading);
        list.add(name + ".work_on_sample", rate.work);
        list.add(name + ".load_step", loading);
    };
    add_epoch("input.first_epoch", i.first, i.first_loading);
    add_epoch("input.later_epochs", i.later, i.later_loading);
    list.add("input.first_epoch_wait", i.first_wait);
    list.add("input.copies_to_device", i.copies);
    list.add("input.steps_per_epoch", i.steps_per_epoch);
    list.add("input.cached_share", i.cached);
    list.add("input.staged_share", i.staged);
    list.add("input.staging", i.staging.total());
    list.add("input.staging.copy", i.staging.copy);
    list.add("input.staging.unpack", i.staging.unpack);
    list.add("input.staging.remove", i.staging.remove);
    list.add("input.write_dataset", i.writing);
}

void add_checkpoints(Quantities& list, const CheckpointEstimate& c) {
    list.add("checkpoints.size", c.bytes);
    list.add("checkpoints.write", c.write);
    list.add("checkpoints.wait", c.wait);
    list.add("checkpoints.read", c.read);
    list.add("checkpoints.every_steps", c.steps);
}

void add_failures(Quantities& list, const FailureEstimate& f) {
    list.add("run.failures.expected", f.expected);
    list.add("run.failures.between", f.job.between);
    list.add("run.failures.restart", f.job.restart);
    if (!f.best) return;
    list.add("run.failures.best_checkpoints.every_steps", f.best->steps);
    list.add("run.failures.best_checkpoints.interval", f.best->interval);
    list.add("run.failures.best_checkpoints.goodput", f.best->goodput);
}

void add_run(Quantities& list, const RunCost& run, const Report& r) {
    list.add("run.steps", run.steps);
    list.add_with_interval("run.time", run.time, r);
    list.add("run.device_hours", run.device_time / units::hour);
    list.add_with_interval("run.energy", run.energy, r);
    list.add("run.goodput", run.goodput);
    list.add("run.staging", run.staging);
    list.add("run.first_epoch", run.first_epoch);
    list.add("run.checkpoints", run.checkpoints);
    list.add("run.failures", run.failures);
    if (run.failing) add_failures(list, *run.failing);
    if (run.cost) list.add_with_interval("run.cost", *run.cost, r);
}

void add_sweep(Quantities& list, const SweepEstimate& s) {
    const auto add_grouping = [&](const std::string& name, const Grouping& g) {
        list.add(name + ".tasks_per_job", static_cast<double>(g.tasks_per_job));
        list.add(name + ".jobs", static_cast<double>(g.jobs));
        list.add(name + ".job", g.job);
        list.add(name + ".time", g.time);
    };
    add_grouping("sweep", s.best);
    list.add("sweep.ungrouped_time", s.ungrouped);
    if (s.faster) add_grouping("sweep.faster", *s.faster);
    if (s.bound) list.add("sweep.storage_bound_from_jobs", s.bound->jobs);
}

Quantities quantities_of(const Report& r, std::optional<double> staleness) {
    Quantities list;
    add_step(list, r);
    if (staleness) list.add("staleness.mean", *staleness);
    add_parts(list, r.estimate);
    add_bottleneck(list, r);
    if (r.input) add_input(list, *r.input);
    if (r.checkpoints) add_checkpoints(list, *r.checkpoints);
    if (r.run) add_run(list, *r.run, r);
    if (r.sweep) add_sweep(list, *r.sweep);
    if (r.batch.linear_rate)
        for (const std::string name : {"learning_rate", "run.learning_rate"}) {
            list.add(name + ".linear", *r.batch.linear_rate);
            list.add(name + ".square_root", *r.batch.square_root_rate);
        }
    return list;
}

}  // namespace

std::vector<NamedQuantity> named_quantities(const Report& r) { return quantities_of(r, r.staleness).take(); }

std::vector<NamedQuantity> named_quantities(const SimulationReport& s) {
    Quantities list = quantities_of(s.report, s.staleness ? s.staleness->mean : s.report.staleness);  // as it was played
    list.add("predicted_step_time", s.predicted_step);
    list.add("seed", static_cast<double>(s.jitter.seed));
    list.add("noise", s.jitter.noise);
    list.add("events", static_cast<double>(s.events));
    list.add("steps", s.steps);
    if (s.staleness) {
        list.add("staleness.largest", s.staleness->largest);
        list.add("staleness.updates", s.staleness->updates);
    }
    list.add("critical_path.seconds", s.critical_path.seconds.si());
    list.add("critical_path.waiting", s.critical_path.waiting);
    list.add("critical_path.spans", static_cast<double>(s.critical_path.spans.size()));
    for (const SpanKind kind : all_span_kinds) {
        list.add("critical_path.by_kind." + std::string(to_text(kind)), s.critical_path.by_kind[kind]);
    }
    return list.take();
}

std::vector<NamedQuantity> simulated_quantities(const Prepared& job) {
    SimulationReport any;
    any.report = make_report(job);
    if (job.scenario().plan.is_asynchronous()) any.staleness = Staleness{};
    return named_quantities(any);
}

}  // namespace sextant
