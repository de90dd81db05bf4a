// One field of a plan at a time: carried from one plan into another, compared, and what follows from it completed.
#pragma once

#include "model/search/plan_space.hpp"

#include <string>

namespace sextant {

void copy_field(PlanField, const Plan& from, Plan& to);
bool same_field(PlanField, const Plan&, const Plan&);

// "tp=3"; only the name for fields that are not numbers.
std::string pin_text(PlanField, const Plan&);

// The plan on the devices of the space, with the fields filled in that the others leave no choice about: dp fills the devices that tp, pp
// and cp leave, a micro-batch is no larger than a pipeline's samples, and settings of a pipeline or of shards are dropped where there are
// none. A plan that is still impossible is for check_plan to refuse.
Plan completed(const PlanSpace&, Plan);

}  // namespace sextant
