// What a plan needs that not every framework has. A prediction is made all the same: it says what the plan would come to with it.
#pragma once

#include "model/hardware/cluster.hpp"
#include "model/plan/framework.hpp"
#include "model/plan/plan.hpp"

#include <string_view>
#include <vector>

namespace sextant {

std::string_view to_text(PlanFeature);  // as people call it: "ZeRO-3"

std::vector<PlanFeature> needed_features(const Plan&, const Cluster&);
// Those that its framework lacks.
std::vector<PlanFeature> missing_features(const Plan&, const Framework&, const Cluster&);

}  // namespace sextant
