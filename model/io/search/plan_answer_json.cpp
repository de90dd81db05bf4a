#include "model/io/search/plan_answer_writer.hpp"

#include "model/io/format/json_text.hpp"
#include "model/io/report/report_fields.hpp"
#include "model/io/scenario/plan_writer.hpp"
#include "model/io/scenario/scenario_edits.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json choice_json(const PlanChoice& c) {
    Json json{{"plan", plan_json(c.plan)},
              {"devices", c.devices},
              {"step_time_s", c.step.si()},
              {"memory_bytes", c.memory.si()},
              {"samples_per_s", c.samples_per_s.si()}};
    if (c.cost_per_sample) json["cost_per_sample_usd"] = c.cost_per_sample->si();
    json["energy_per_sample_j"] = c.energy_per_sample.si();
    return json;
}

Json ranked_json(const RankedPlan& r) {
    Json json = choice_json(r.choice);
    const Json report = report_fields(r.report, "");
    for (const char* key : {"step_time_interval_s", "throughput", "mfu", "terms", "overlapped", "device_memory_bytes", "bottleneck"})
        json[key] = report.at(key);
    json["other_placements"] = Json::array();
    for (const auto& placement : r.other_placements) {
        Plan plan = r.choice.plan;
        plan.placement = placement;
        json["other_placements"].push_back(plan_field_json(PlanField::placement, plan));
    }
    json["simulated_step_time_s"] = r.simulated ? Json(r.simulated->si()) : Json();
    return json;
}

Json tried_json(const TriedPlan& t) {
    Json json{{"plan", plan_json(t.plan)}, {"possible", t.estimate.has_value()}};
    if (!t.estimate) {
        Json reasons = Json::array();
        for (const Diagnostic& d : t.impossible) reasons.push_back(d.what);
        json["reasons"] = std::move(reasons);
        return json;
    }
    json["fits"] = t.fits();
    json["framework_can"] = t.missing.empty();
    json["step_time_s"] = t.estimate->step.si();
    json["samples_per_s"] = t.samples_per_s().si();
    json["memory_bytes"] = t.estimate->peak_memory.si();
    json["terms"] = terms_json(t.estimate->terms);
    return json;
}

// With the time of a sample against that of the best plan, and the term that grew most.
Json compared_json(const PlanAnswer& a, const TriedPlan& t) {
    Json json = tried_json(t);
    if (!t.estimate) return json;
    json["relative_time"] = a.best.front().choice.samples_per_s / t.samples_per_s();
    const auto grown = most_grown(a.best.front().report.estimate.terms, t.estimate->terms);
    json["grew_most"] = grown ? Json(to_text(*grown)) : Json();
    return json;
}

std::string_view name_of(ObviousKind kind) {
    static constexpr std::string_view names[] = {"data_parallel", "fully_sharded", "tensor_over_nodes", "pipeline", "no_recompute"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view name_of(RemedyKind kind) {
    static constexpr std::string_view names[] = {"unpinned", "head", "offload", "precision", "global_batch", "devices", "framework"};
    return names[static_cast<std::size_t>(kind)];
}

// What makes the job fit, each as --set takes it.
Json setting_json(const Scenario& job, const Remedy& r) {
    Json list = Json::array();
    if (!r.framework.empty()) list.push_back("framework=" + r.framework);
    for (const auto& [path, value] : edits_between(job, with_plan(job, r.tried.plan))) list.push_back(path + "=" + value);
    return list;
}

Json request_json(const SearchRequest& r) {
    Json pinned = Json::array(), where = Json::array(), batches = r.global_batches, sizes = r.devices;
    for (const PlanField f : r.pinned) pinned.push_back(to_text(f));
    for (const Condition& c : r.where) where.push_back(c.text);
    if (sizes.empty()) sizes.push_back(r.job.plan.devices());
    if (batches.empty()) batches.push_back(r.job.plan.global_batch);
    return {{"objective", to_text(r.objective)}, {"devices", sizes}, {"global_batches", batches}, {"pinned", pinned}, {"where", where}};
}

}  // namespace

std::string plan_answer_to_json(const PlanAnswer& a, Seconds took) {
    Json json{{"schema", "plan/1"}, {"scenario", a.request.job.name}, {"request", request_json(a.request)}};
    const Json none = Json::array();
    json["best"] = json["front"] = json["dimensions"] = json["alternatives"] = json["would_fit"] = none;
    for (const RankedPlan& r : a.best) json["best"].push_back(ranked_json(r));
    for (const PlanChoice& c : a.front) json["front"].push_back(choice_json(c));
    for (const PlanChange& c : a.changes) {
        Json change{{"field", to_text(c.field)}, {"value", plan_field_json(c.field, c.tried.plan)}};
        change.update(compared_json(a, c.tried));
        json["dimensions"].push_back(std::move(change));
    }
    for (const Alternative& x : a.alternatives) {
        Json alternative{{"kind", name_of(x.kind)}, {"is_the_best", x.is_the_best}};
        alternative.update(compared_json(a, x.tried));
        json["alternatives"].push_back(std::move(alternative));
    }
    for (const Remedy& r : a.remedies) {
        Json remedy{{"kind", name_of(r.kind)}, {"field", r.field ? Json(to_text(*r.field)) : Json()}};
        if (!r.framework.empty()) remedy["framework"] = r.framework;
        remedy["set"] = setting_json(a.request.job, r);
        remedy.update(tried_json(r.tried));
        json["would_fit"].push_back(std::move(remedy));
    }
    if (a.smallest) json["smallest"] = choice_json(*a.smallest);
    json["own"] = tried_json(a.own);
    json["counts"] = {{"priced", a.counts.priced}, {"too_large", a.counts.too_large}, {"pruned", a.counts.pruned}};
    json["complete"] = a.complete;
    json["seconds"] = took.si();
    return json_document(json);
}

}  // namespace sextant
