// The groups of a plan as lay_groups finds them, the long way: every rank of every group is listed, and every link that it loads.
#pragma once

#include "model/predict/groups.hpp"

namespace sextant {

StageGroups list_groups(const Scenario&, const Topology&);

}  // namespace sextant
