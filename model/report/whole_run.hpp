// The whole run: its steps and what it needs beside them, money and energy. docs/model/report.md has the formulas.
#pragma once

#include "model/report/report.hpp"

#include <string>

namespace sextant {

// The cost of a run over so many samples. The report has everything else already.
RunCost run_cost(const Scenario&, double samples, const Report&);
// What one task of a sweep does: the run of this report.
SweepTask sweep_task(const Prepared&, const Report&);

// Checkpoints that a run which fails now and then had better write more often or less.
std::optional<std::string> interval_advice(const Report&);

}  // namespace sextant
