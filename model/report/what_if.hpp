// A what-if as a scenario of its own: hardware and software of it so many times as good.
//
// The closed form takes Resources as it goes (estimate() in model/predict/estimate.hpp); a simulation plays the scenario that this makes.
// Both say the same but where one bandwidth stands for several links: the closed form scales the whole way of a group by the resource
// that it is named after, here each link has its own, so that the slot of a NIC or the links inside a node may limit what the network
// no longer does, and what a library moves per channel stays as it is.
#pragma once

#include "model/plan/scenario.hpp"
#include "model/predict/estimate.hpp"

namespace sextant {

// Its name and its sources tell. Loader workers come in whole numbers.
Scenario with_resources(Scenario, const Resources&);

}  // namespace sextant
