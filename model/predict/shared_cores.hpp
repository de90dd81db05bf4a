// Ranks that share the cores of a host (NodeSpec::ranks_per_device), each as if it had a slower device of its own. Internal to predict.
//
// f ranks to a core that all compute have 1/f of it each: rates are divided by f, times on the host multiplied. A call waits, besides,
// until all its ranks have had their turn: the system gives a core to another rank for milliseconds, or for as long as that has work until
// it waits itself. What a rank leaves free while it waits for its pipeline, the others take (step_price.cpp). Neglected: what they evict
// from each other's caches; in the simulation, what pipelines leave free.
#pragma once

#include "model/cost/collectives.hpp"
#include "model/plan/scenario.hpp"

namespace sextant {

// At least 1.
double ranks_per_core(const Scenario&);

Scenario with_part_of_a_core(const Scenario&);

// For how long the system leaves a core to another rank; zero where each has one of its own.
Seconds turn_of_core(const Scenario&);

}  // namespace sextant
