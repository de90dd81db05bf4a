#include "model/io/format/json_text.hpp"
#include "model/io/report/report_fields.hpp"
#include "model/io/scenario/plan_writer.hpp"
#include "model/io/search/scaling_writer.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json point_json(const ScalingPoint& p) {
    Json json{{"devices", p.devices}, {"global_batch", p.global_batch}, {"fits", p.best.has_value()}};
    if (!p.best) json["why"] = why_no_plan(p);
    if (!p.best) return json;
    json["plan"] = plan_json(p.best->plan);
    json["step_time_s"] = p.best->step.si();
    json["step_time_interval_s"] = {p.report->low.si(), p.report->high.si()};
    json["samples_per_s"] = p.best->samples_per_s.si();
    json["memory_bytes"] = p.best->memory.si();
    if (p.best->cost_per_sample) json["cost_per_sample_usd"] = p.best->cost_per_sample->si();
    json["energy_per_sample_j"] = p.best->energy_per_sample.si();
    json["mfu"] = p.report->mfu;
    json["terms"] = terms_json(p.report->estimate.terms);
    json["bottleneck"] = to_text(p.report->bottleneck.kind);
    json["efficiency"] = p.efficiency;
    if (p.added) json["added_device_brings"] = *p.added;
    return json;
}

}  // namespace

std::string scaling_to_json(const Scaling& s) {
    Json json{{"schema", "scaling/1"}, {"scenario", s.request.search.job.name}, {"kind", s.request.weak ? "weak" : "strong"}};
    json["points"] = Json::array();
    for (const ScalingPoint& p : s.points) json["points"].push_back(point_json(p));
    json["worth_adding"] = worth_adding;
    json["pays_up_to_devices"] = s.pays_up_to ? Json(*s.pays_up_to) : Json();
    json["too_many_devices"] = s.too_many ? Json(*s.too_many) : Json();
    json["complete"] = s.complete;
    return json_document(json);
}

}  // namespace sextant
