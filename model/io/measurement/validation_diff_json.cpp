#include "model/io/measurement/validation_writer.hpp"

#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json errors(const SeriesMean& m) { return {{"mape", m.mape}, {"median_ape", m.median_ape}, {"bias", m.bias}}; }
Json errors(const ErrorStatistics& s) { return {{"mape", s.mape}, {"median_ape", s.median_ape}, {"bias", s.bias}, {"max_ape", s.max_ape}}; }

Json side(const std::optional<Seconds>& step, const std::optional<double>& error, const std::optional<std::string>& refused) {
    Json json = Json::object();
    if (step) json["predicted_step_time_s"] = step->si();
    if (error) json["error"] = *error;
    if (refused) json["refused"] = *refused;
    return json;
}

}  // namespace

std::string validation_diff_json(const ValidationDiff& d) {
    Json json = {{"schema", "validation-diff/1"}, {"moved", d.moved.size()}, {"only_before", d.only_before}, {"only_after", d.only_after},
                 {"series", Json::array()},       {"files", Json::array()},  {"rows", Json::array()}};
    const std::vector<SeriesMean> before = d.before.unseen().series();
    for (const SeriesMean& now : d.after.unseen().series())
        if (const auto then = std::ranges::find(before, now.series, &SeriesMean::series); then != before.end())
            json["series"].push_back({{"name", now.series}, {"rows", now.rows}, {"before", errors(*then)}, {"after", errors(now)}});
    for (std::size_t i = 0; i < d.after.files.size(); ++i) {
        const Summary then = summarize(d.before.files[i].results), now = summarize(d.after.files[i].results);
        if (now.step_time.rows == 0) continue;
        const std::string& file = d.after.files[i].file;
        json["files"].push_back({{"file", file},
                                 {"moved", std::ranges::count(d.moved, file, &RowMove::file)},
                                 {"before", errors(then.step_time)},
                                 {"after", errors(now.step_time)}});
    }
    for (const RowMove& m : d.moved) {
        Json row = {{"file", m.file}, {"id", m.id}, {"counted", m.counted}, {"fitted", m.fitted}};
        if (m.measured) row["measured_step_time_s"] = m.measured->si();
        row["before"] = side(m.before, m.error_before, m.refused_before);
        row["after"] = side(m.after, m.error_after, m.refused_after);
        row["worse_by"] = m.worse_by();
        json["rows"].push_back(std::move(row));
    }
    return json_document(json, 1);
}

}  // namespace sextant
