#include "model/io/format/json_text.hpp"
#include "model/io/report/profiler_comparison_writer.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json beside(Seconds predicted, Seconds measured) {
    const auto of = ratio(measured.si(), predicted.si());
    return {{"predicted_s", predicted.si()}, {"measured_s", measured.si()}, {"ratio", of ? Json(*of) : Json(nullptr)}};
}

Json terms_json(const Terms& predicted, const Terms& measured) {
    Json list = Json::array();
    for (const Term t : all_terms) {
        if (predicted[t] <= Seconds{} && measured[t] <= Seconds{}) continue;
        Json term = {{"name", to_text(t)}};
        term.update(beside(predicted[t], measured[t]));
        list.push_back(std::move(term));
    }
    return list;
}

}  // namespace

std::string profiler_comparison_to_json(const ProfilerComparison& c) {
    Json json = {{"schema", "profiler-comparison/1"},
                 {"scenario", c.prediction.scenario},
                 {"profile", c.file},
                 {"device", c.device},
                 {"rank", c.rank},
                 {"step_time", beside(c.predicted_step, c.steps.median)},
                 {"step_time_interval_s", {c.prediction.low.si(), c.prediction.high.si()}},
                 {"steps",
                  {{"count", c.steps.count},
                   {"median_s", c.steps.median.si()},
                   {"fastest_s", c.steps.fastest.si()},
                   {"slowest_s", c.steps.slowest.si()},
                   {"traced_s", c.traced_step.si()}}},
                 {"terms", terms_json(c.predicted, c.measured)},
                 {"overlapped", terms_json(c.predicted_overlapped, c.measured_overlapped)},
                 {"kernels", Json::array()},
                 {"largest_residual", {{"term", to_text(c.largest)}, {"seconds", (c.measured[c.largest] - c.predicted[c.largest]).si()}}},
                 {"notes", c.notes}};
    for (const KernelTime& k : c.kernels)
        json["kernels"].push_back({{"name", k.name}, {"kind", to_text(k.kind)}, {"calls", k.calls}, {"seconds", k.time.si()}});
    return json_document(json);
}

}  // namespace sextant
