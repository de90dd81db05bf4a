// The exit code that follows from a report: --fail-if, and whether the plan fits.
#pragma once

#include "model/base/failure.hpp"
#include "model/report/condition.hpp"
#include "model/report/simulation_report.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// What `of` lists of a job; nothing where that could not be read.
template <class Job, class Of>
KnownQuantities known_of(const std::optional<Job>& job, Of of) {
    return job ? KnownQuantities([&job, of] { return of(*job); }) : nullptr;
}

// Parses the conditions of --fail-if on these quantities. The second one throws InputError with every problem.
std::vector<Condition> fail_conditions(const std::vector<std::string>& fail_if, const KnownQuantities& known, Diagnostics&);
std::vector<Condition> fail_conditions(const std::vector<std::string>& fail_if, const KnownQuantities& known);

// Prints the conditions that held to stderr.
ExitCode verdict(const std::vector<NamedQuantity>&, const std::vector<Condition>&);
ExitCode verdict(const Report&, const std::vector<Condition>&);
ExitCode verdict(const SimulationReport&, const std::vector<Condition>&);

}  // namespace sextant
