#include "model/io/report/report_writer.hpp"

#include "model/base/quantity_text.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/report/report_fields.hpp"
#include "model/io/scenario/scenario_edits.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json memory_json(const Estimate& e) {
    Json stages = Json::array();
    for (const StageMemory& m : e.memory) {
        Json kinds;
        for (const MemoryKind k : all_memory_kinds) {
            kinds[std::string(to_text(k))] = m[k].si();
        }
        stages.push_back({{"total_bytes", m.total().si()}, {"by_kind_bytes", std::move(kinds)}});
    }
    return stages;
}

// As one passes them to --set, and what they come to.
Json settings_json(const Report& r, const std::vector<PricedSetting>& settings) {
    Json list = Json::array();
    for (const PricedSetting& s : settings) {
        Json set = Json::array();
        for (auto& [path, value] : edits_between(r.job, s.job)) set.push_back(path.append("=").append(value));
        list.push_back(
            {{"set", std::move(set)}, {"step_time_s", s.step.si()}, {"memory_bytes", s.memory.si()}, {"gain_per_sample", s.gain}});
    }
    return list;
}

Json bottleneck_json(const Report& r) {
    const Bottleneck& b = r.bottleneck;
    Json movers = Json::array();
    for (const Mover& m : b.movers)
        movers.push_back({{"resource", m.resource}, {"step_time_at_double_s", m.step_at_double.si()}, {"gain", m.gain}});
    Json json = {{"kind", to_text(b.kind)},
                 {"why", b.why},
                 {"what_would_move_it", what_would_move_it(r)},
                 {"settings", settings_json(r, b.settings)},
                 {"elsewhere", settings_json(r, b.elsewhere)},
                 {"movers", std::move(movers)}};
    if (b.changes_at) {
        json["changes_at_factor"] = *b.changes_at;
        json["changes_at"] = b.changes_at_text;
    }
    return json;
}

Json epoch_json(const LoaderRate& rate, Seconds loading) {
    return {{"node_samples_per_s", rate.samples.si()},
            {"limit", to_text(rate.limit)},
            {"read_sample_s", rate.reading.si()},
            {"work_on_sample_s", rate.work.si()},
            {"load_step_s", loading.si()}};
}

Json input_json(const InputEstimate& i) {
    return {{"first_epoch", epoch_json(i.first, i.first_loading)},
            {"later_epochs", epoch_json(i.later, i.later_loading)},
            {"first_epoch_wait_s", i.first_wait.si()},
            {"copies_to_device_s", i.copies.si()},
            {"steps_per_epoch", i.steps_per_epoch},
            {"cached_share", i.cached},
            {"staged_share", i.staged},
            {"staging_s", {{"copy", i.staging.copy.si()}, {"unpack", i.staging.unpack.si()}, {"remove", i.staging.remove.si()}}},
            {"write_dataset_s", i.writing.si()}};
}

Json checkpoints_json(const CheckpointEstimate& c) {
    return {{"bytes", c.bytes.si()}, {"write_s", c.write.si()}, {"wait_s", c.wait.si()}, {"read_s", c.read.si()}, {"every_steps", c.steps}};
}

Json sweep_json(const SweepEstimate& s) {
    const auto grouping = [](const Grouping& g) {
        return Json{{"tasks_per_job", g.tasks_per_job}, {"jobs", g.jobs}, {"job_s", g.job.si()}, {"time_s", g.time.si()}};
    };
    Json json = grouping(s.best);
    json["ungrouped_time_s"] = s.ungrouped.si();
    if (s.faster) json["faster"] = grouping(*s.faster);
    if (s.bound) {
        json["storage_bound_from_jobs"] = s.bound->jobs;
        json["storage_limit"] = to_text(s.bound->limit);
    }
    return json;
}

template <class Q>
Json interval_json(const Interval<Q>& i) {
    return {i.low.si(), i.high.si()};
}

Json failures_json(const FailureEstimate& f) {
    Json json = {{"expected", f.expected}, {"between_s", f.job.between.si()}, {"restart_s", f.job.restart.si()}};
    if (f.best)
        json["best_checkpoints"] = {{"every_steps", f.best->steps}, {"interval_s", f.best->interval.si()}, {"goodput", f.best->goodput}};
    return json;
}

Json learning_rate_json(const BatchAdvice& b) { return {{"linear", *b.linear_rate}, {"square_root", *b.square_root_rate}}; }

Json run_json(const Report& r) {
    const RunCost& run = *r.run;
    Json json = {{"steps", run.steps},
                 {"time_s", run.time.si()},
                 {"time_interval_s", interval_json(interval_of(run.time, r))},
                 {"device_hours", run.device_time / units::hour},
                 {"energy_j", run.energy.si()},
                 {"energy_interval_j", interval_json(interval_of(run.energy, r))},
                 {"goodput", run.goodput}};
    if (run.goodput < 1) {
        json["staging_s"] = run.staging.si();
        json["first_epoch_s"] = run.first_epoch.si();
        json["checkpoints_s"] = run.checkpoints.si();
        json["failures_s"] = run.failures.si();
    }
    if (run.failing) json["failures"] = failures_json(*run.failing);
    if (run.cost) {
        json["cost_usd"] = run.cost->si();
        json["cost_interval_usd"] = interval_json(interval_of(*run.cost, r));
    }
    if (r.batch.linear_rate) json["learning_rate"] = learning_rate_json(r.batch);
    return json;
}

}  // namespace

nlohmann::ordered_json terms_json(const Terms& terms) {
    Json list = Json::array();
    for (const Term t : all_terms) {
        if (terms[t] > Seconds{}) list.push_back({{"name", to_text(t)}, {"seconds", terms[t].si()}});
    }
    return list;
}

namespace {

// What the prediction rests on.
void add_inputs(Json& json, const Report& r) {
    Json estimated = Json::array(), inputs = Json::array();
    for (const InputUsed& i : r.inputs) {
        if (i.kind == SourceKind::estimated) estimated.push_back(i.name);
        inputs.push_back({{"name", i.name}, {"value", i.value}, {"kind", to_text(i.kind)}, {"source", i.source}, {"effect", i.effect}});
    }
    json["inputs_estimated"] = std::move(estimated);
    json["inputs"] = std::move(inputs);
}

}  // namespace

nlohmann::ordered_json report_fields(const Report& r, const std::string& schema) {
    const Estimate& e = r.estimate;
    Json json;
    json["schema"] = schema;
    json["scenario"] = r.scenario;
    json["workload"] = r.workload;
    json["hardware"] = r.hardware;
    json["plan"] = r.plan;
    json["step_time_s"] = e.step.si();
    json["step_time_interval_s"] = {r.low.si(), r.high.si()};
    json["throughput"] = {{"samples_per_s", r.samples_per_s.si()}};
    json["throughput"]["tokens_per_s"] = r.tokens_per_s ? Json(r.tokens_per_s->si()) : Json(nullptr);
    json["terms"] = terms_json(e.terms);
    json["overlapped"] = terms_json(e.overlapped);
    json["memory_bytes"] = e.peak_memory.si();
    json["device_memory_bytes"] = e.device_memory.si();
    json["host_memory_bytes"] = e.host.total().si();
    json["host_memory_there_bytes"] = e.host.there.si();
    json["memory_by_stage"] = memory_json(e);
    json["fits"] = e.fits();
    json["largest_micro_batch"] = r.batch.largest_micro_batch;
    json["mfu"] = r.mfu;
    json["hfu"] = r.hfu;
    json["model_flops"] = e.model_flops.si();
    json["scaling_efficiency"] = r.scaling_efficiency;
    json["utilization"] = r.utilization;
    json["devices"] = r.devices;
    json["reserved_devices"] = r.reserved_devices;
    json["effective_batch"] = r.batch.effective_batch;
    if (r.batch.linear_rate) json["learning_rate"] = learning_rate_json(r.batch);
    if (r.staleness) json["staleness"] = {{"mean", *r.staleness}};
    json["bottleneck"] = bottleneck_json(r);
    if (r.input) json["input"] = input_json(*r.input);
    if (r.checkpoints) json["checkpoints"] = checkpoints_json(*r.checkpoints);
    if (r.run) json["run"] = run_json(r);
    if (r.sweep) json["sweep"] = sweep_json(*r.sweep);
    add_inputs(json, r);
    json["assumptions"] = r.assumptions;
    json["advice"] = r.advice;
    return json;
}

std::string report_to_json(const Report& r) { return json_document(report_fields(r, "prediction/1")); }

}  // namespace sextant
