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

// What a run did that a scenario does not say: empty where both are of one plan. Plays the step: for worker threads.
std::vector<Diagnostic> differences(const Scenario&, const RunRecord&);

// Step, rates and terms: predicted, simulated, measured, and measured over predicted; exposed and hidden.
Table residuals_table(const Comparison&);
// Each rank's end and memory.
Table ranks_table(const Comparison&);
// Those that differ most in a step; of a run that was not asked for them none.
Table operators_table(const Comparison&);
// "Measured 1.71 s, 1.06 times what was predicted; inside the interval of 80 %."
QString verdict(const Comparison&);

}  // namespace sextant::gui
