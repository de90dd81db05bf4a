// Plays a graph whose kernels, host work and copies have no order of their own: of each of these streams segments start in the order in
// which they become ready, as those of a parameter server always do. Collectives and sends keep theirs.
#pragma once

#include "model/simulate/simulate.hpp"

namespace sextant {

Simulation play_as_ready(const TaskGraph&, const CostTable&, const Topology&, const Placement&, const PlayListener& = {});

}  // namespace sextant
