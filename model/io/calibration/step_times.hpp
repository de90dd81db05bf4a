// Steps of a job that ran elsewhere, as its owner writes them down (schema step-times/1):
//
//     {"schema": "step-times/1", "scenario": "my-job.json", "overrides": ["plan.dp=8"], "steps_s": [0.412, 0.409, 0.415]}
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/base/quantity.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct WrittenSteps {
    std::string scenario;  // a path as it stands in the file
    std::vector<std::string> overrides;
    std::vector<Seconds> steps;
};
WrittenSteps step_times_from_text(std::string_view text, const std::string& name, Diagnostics&);

}  // namespace sextant
