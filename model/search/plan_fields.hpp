// One field of a plan at a time: carried from one plan into another, compared, and what follows from it completed.
#pragma once

#include "model/search/plan_space.hpp"

#include <string>

namespace sextant {

void copy_field(PlanField, const Plan& from, Plan& to);
bool same_field(PlanField, const Plan&, const Plan&);

// "tp=3"; of what is no number the name alone.
std::string pin_text(PlanField, const Plan&);

// The plan on so many devices, with whatever its other fields leave no choice about: dp fills the devices that tp, pp and cp leave, a
// micro-batch is no more than a pipeline's samples, what needs a pipeline or shards goes where there is none. A plan that still cannot be
// is check_plan's to refuse.
Plan completed(const PlanSpace&, Plan);

}  // namespace sextant
