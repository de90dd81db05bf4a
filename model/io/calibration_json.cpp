#include "model/io/calibration_writer.hpp"

#include <nlohmann/json.hpp>

namespace sextant {

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
    return json.dump(1) + "\n";
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
    return json.dump(1) + "\n";
}

}  // namespace sextant
