// Prediction and simulation beside a run.
#pragma once

#include "gui/models/session.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/timeline/timeline.hpp"

namespace sextant::gui {

struct Compared {
    std::shared_ptr<const Measured> of;
    Comparison comparison;
};

// How a run differs from what a scenario says; empty where both have the same plan. Simulates the step, so it is for worker threads.
std::vector<Diagnostic> differences(const Scenario&, const RunRecord&);

// Step time, rates and terms, exposed and hidden: predicted, simulated, measured, and measured over predicted.
Table residuals_table(const Comparison&);
// The end of the step and the memory of each rank.
Table ranks_table(const Comparison&);
// The operators that differ most in a step; empty where the run did not time operators.
Table operators_table(const Comparison&);
// "Measured 1.71 s, 1.06 times what was predicted; inside the interval of 80 %."
QString verdict(const Comparison&);

}  // namespace sextant::gui
