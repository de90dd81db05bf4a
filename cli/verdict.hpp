// What a report means for the exit code: --fail-if, and whether the plan fits.
#pragma once

#include "model/base/failure.hpp"
#include "model/report/condition.hpp"
#include "model/report/simulation_report.hpp"

#include <string>
#include <vector>

namespace sextant {

// The conditions of --fail-if on quantities like these. Throws InputError with every problem.
std::vector<Condition> fail_conditions(const std::vector<std::string>& fail_if, const KnownQuantities& known);

// Says on stderr which conditions held.
ExitCode verdict(const std::vector<NamedQuantity>&, const std::vector<Condition>&);
ExitCode verdict(const Report&, const std::vector<Condition>&);
ExitCode verdict(const SimulationReport&, const std::vector<Condition>&);

}  // namespace sextant
