// A simulation as text for people and as JSON for programs: all that a prediction says (schema "simulation/1", the same keys), and what
// only a timeline can say: the critical path, memory and utilization over time.
#pragma once

#include "model/report/simulation_report.hpp"

#include <string>

namespace sextant {

std::string simulation_to_text(const SimulationReport&);
std::string simulation_to_json(const SimulationReport&);

}  // namespace sextant
