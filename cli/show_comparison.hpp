// Prints a comparison, for the subcommands compare and run.
#pragma once

#include "cli/scenario_options.hpp"
#include "cli/verdict.hpp"

#include <string>
#include <vector>

namespace sextant {

// `trace`: a file for both timelines, one above the other; empty: none is written.
ExitCode show_comparison(const Scenario&, const RunRecord&, const ReportOptions&, const std::vector<Condition>&, const std::string& trace);

}  // namespace sextant
