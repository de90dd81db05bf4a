// Settings of a plan that change nothing about its job: whoever wrote them expects something of them.
#pragma once

#include "model/plan/scenario.hpp"

#include <string>
#include <vector>

namespace sextant {

// Each with its reason: "plan.recompute does nothing: forward alone keeps nothing for a backward".
std::vector<std::string> idle_settings(const Scenario&);

}  // namespace sextant
