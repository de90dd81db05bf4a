// What one scenario has otherwise than another, in the words of a scenario file.
#pragma once

#include "model/plan/scenario.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sextant {

// Path and value, as --set takes them: {"plan.tp", "8"}.
using ScenarioEdits = std::vector<std::pair<std::string, std::string>>;

// Laid over a file of the first they make the second of it, whatever the file states and what it leaves to follow: its plan, sizes of its
// network, framework, device and cluster by their names, slow and noisy devices. What else differs is not told.
ScenarioEdits edits_between(const Scenario& from, const Scenario& to);

// As a shell takes them: "plan.tp=8 plan.dp=4".
std::string set_text(const ScenarioEdits&);

}  // namespace sextant
