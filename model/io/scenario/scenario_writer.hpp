// A scenario's document with another plan in it.
#pragma once

#include "model/io/scenario/scenario_document.hpp"
#include "model/plan/scenario.hpp"

namespace sextant {

// Read back, it is the scenario that the document is of, with `plan` in place of its plan. Its number of nodes follows the plan.
ScenarioDocument document_with_plan(ScenarioDocument, const Scenario&, const Plan& plan);

}  // namespace sextant
