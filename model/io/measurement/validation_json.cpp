#include "model/io/measurement/validation_writer.hpp"

#include "model/io/format/json_text.hpp"
#include "model/report/plan_ranking.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ErrorStatistics& s) {
    return {{"rows", s.rows}, {"mape", s.mape}, {"median_ape", s.median_ape}, {"bias", s.bias}, {"max_ape", s.max_ape}};
}

Json to_json(const Summary& s) {
    Json json = {{"rows", s.rows}, {"counted", s.counted}, {"predicted", s.predicted}, {"refused", s.refused}};
    if (s.step_time.rows > 0) json["step_time"] = to_json(s.step_time);
    if (s.memory.rows > 0) json["memory"] = to_json(s.memory);
    if (s.ran.of > 0) json["ran"] = {{"rows", s.ran.of}, {"predicted_to_fit", s.ran.right}};
    if (s.failed.of > 0) json["ran_out_of_memory"] = {{"rows", s.failed.of}, {"predicted_not_to_fit", s.failed.right}};
    for (const auto& [why, rows] : s.reasons) json["refusals"].push_back({{"why", why}, {"rows", rows}});
    return json;
}

Json to_json(const RowResult& r) {
    Json json = {{"id", r.id}, {"counted", r.counted}, {"fitted", r.fitted}};
    if (r.refused) json["refused"] = *r.refused;
    if (r.measured_step) json["measured_step_time_s"] = r.measured_step->si();
    if (r.predicted_step) json["predicted_step_time_s"] = r.predicted_step->si();
    if (r.interval) json["interval_s"] = {r.interval->first.si(), r.interval->second.si()};
    if (const auto e = r.step_error()) json["ape"] = std::fabs(*e);
    if (r.measured_memory) json["measured_memory_bytes"] = r.measured_memory->si();
    if (r.predicted_memory) json["predicted_memory_bytes"] = r.predicted_memory->si();
    if (r.measured_utilization) json["measured_utilization"] = *r.measured_utilization;
    if (r.predicted_utilization) json["predicted_utilization"] = *r.predicted_utilization;
    if (r.measured_fits) json["measured_fits"] = *r.measured_fits;
    if (r.predicted_fits) json["predicted_fits"] = *r.predicted_fits;
    if (!r.assumptions.empty()) json["assumptions"] = r.assumptions;
    return json;
}

Json total_json(const Validation& validation) {
    Json total = to_json(validation.total());
    for (const SeriesMean& m : validation.series()) {
        Json series = {{"name", m.series},   {"files", m.files}, {"rows", m.rows}, {"mean_mape", m.mape}, {"mean_median_ape", m.median_ape},
                       {"mean_bias", m.bias}};
        if (m.inside) series["mean_inside_interval"] = *m.inside;
        total["series"].push_back(std::move(series));
    }
    return total;
}

}  // namespace

std::string validation_json(const Validation& validation, const ValidationView& view) {
    Json files = Json::array();
    for (const FileValidation& file : validation.files) {
        Json json = {{"file", file.file}};
        json.update(to_json(summarize(file.results)));
        Json& results = json["results"] = Json::array();
        for (const RowResult& r : file.results) results.push_back(to_json(r));
        files.push_back(std::move(json));
    }
    Json total = total_json(validation);
    const Validation unseen = validation.unseen();
    total["not_fitted"] = total_json(unseen);
    if (const PlanRanking r = rank_plans(unseen); r.jobs > 0)
        total["not_fitted"]["plan_ranking"] = {{"jobs", r.jobs},
                                               {"rank_correlation", r.rank_correlation},
                                               {"loss", r.loss},
                                               {"most_loss", r.most_loss},
                                               {"within_5_percent", r.well_chosen}};
    Json json = {{"schema", "validation/1"}, {"files", std::move(files)}, {"total", std::move(total)}};
    if (!view.group_by.empty())
        for (const auto& [name, summary] : validation.grouped_by(view.group_by)) json["groups"][name] = to_json(summary);
    return json_document(json, 1);
}

}  // namespace sextant
