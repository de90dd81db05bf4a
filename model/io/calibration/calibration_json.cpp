#include "model/io/calibration/calibration_writer.hpp"

#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant {

std::string cluster_fit_to_json(const ClusterFit& fit) {
    nlohmann::ordered_json json = {{"schema", "cluster-fit/1"},
                                   {"median_error_before", fit.median_error_before},
                                   {"median_error", fit.median_error},
                                   {"parameters", nlohmann::ordered_json::array()},
                                   {"terms", nlohmann::ordered_json::array()}};
    for (const NarrowedParameter& p : fit.parameters)
        json["parameters"].push_back({{"owner", to_text(p.parameter.owner)},
                                      {"name", p.parameter.name},
                                      {"before", p.before},
                                      {"spread_before", p.spread_before},
                                      {"value", p.is_moved() ? p.value : p.before},
                                      {"spread", p.spread},
                                      {"moved", p.is_moved()},
                                      {"at_bound", p.at_bound}});
    for (std::size_t i = 0; i < fit.terms.size(); ++i) {
        const CalibratedTerm& t = fit.terms[i];
        json["terms"].push_back({{"of", t.of},
                                 {"name", t.name},
                                 {"measured_s", t.measured.si()},
                                 {"predicted_before_s", fit.predicted_before[i].si()},
                                 {"predicted_s", t.predicted.si()},
                                 {"left_out", t.left_out}});
    }
    return json_document(json, 1);
}

std::string training_fit_to_json(const TrainingFit& fit) {
    nlohmann::ordered_json json = {{"schema", "training-fit/1"},
                                   {"mean_error", fit.mean_error},
                                   {"memory_error", fit.memory_error},
                                   {"parameters", nlohmann::ordered_json::array()}};
    for (const TrainedParameter& p : fit.parameters)
        json["parameters"].push_back({{"owner", to_text(p.parameter.owner)},
                                      {"of", p.of},
                                      {"name", p.parameter.name},
                                      {"value", p.value},
                                      {"text", p.parameter.text(p.value)},
                                      {"spread", p.spread},
                                      {"at_bound", p.at_bound},
                                      {"runs", p.runs}});
    return json_document(json, 1);
}

std::string library_fit_to_json(const LibraryFit& fit) {
    nlohmann::ordered_json json = {
        {"schema", "library-fit/1"}, {"mean_error", fit.mean_error}, {"parameters", nlohmann::ordered_json::array()}};
    for (const LibraryParameter& p : fit.parameters)
        json["parameters"].push_back({{"of", p.of},
                                      {"pointer", p.pointer},
                                      {"value", p.value},
                                      {"text", p.text},
                                      {"spread", p.spread},
                                      {"at_bound", p.at_bound},
                                      {"calls", p.calls}});
    return json_document(json, 1);
}

}  // namespace sextant
