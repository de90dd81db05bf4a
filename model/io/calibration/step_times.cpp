#include "model/io/calibration/step_times.hpp"

#include "model/io/format/json_reader.hpp"

namespace sextant {

WrittenSteps step_times_from_text(std::string_view text, const std::string& name, Diagnostics& diagnostics) {
    WrittenSteps times;
    const JsonFile file = JsonFile::from_text(text, name, diagnostics);
    if (!file.root().value) return times;
    ObjectReader r(file.root());
    r.schema("step-times/1");
    r.required("scenario", times.scenario);
    r.optional("overrides", times.overrides);
    for (const JsonNode& n : r.need("steps_s", "the times of steps in seconds, without the first").elements()) {
        Seconds step;
        if (read_value(n, step, InSi{{1e-9, 1e9}})) times.steps.push_back(step);
    }
    if (times.steps.empty() && r.has("steps_s")) r.get("steps_s").complain("no step", "at least one");
    return times;
}

}  // namespace sextant
