// What the times of a job depend on beside which rank does what, and in which order: in these two jobs whose graphs are alike may differ.
#pragma once

#include "model/plan/scenario.hpp"

#include <map>
#include <string>

namespace sextant {

// In words, by JSON pointer into the scenario: {"/plan/micro_batch", "4"}, {"/plan/optimizer", "adamw"}.
using JobSettings = std::map<std::string, std::string>;

JobSettings job_settings(const Scenario&);

}  // namespace sextant
