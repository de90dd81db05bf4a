// Ranks that share the cores of a host (NodeSpec::ranks_per_device), each as if it had a slower device of its own. Internal to predict.
//
// Where f ranks share a core and all of them compute, each has 1/f of it: rates are divided by f, times on the host multiplied. A call also
// waits until all its ranks have had their turn: the system gives a core to another rank for milliseconds, or until that rank itself has to
// wait. What a rank leaves free while it waits for its pipeline, the others take (step_price.cpp). Neglected: what they evict from each
// other's caches; in the simulation, what pipelines leave free.
#pragma once

#include "model/plan/scenario.hpp"

namespace sextant {

// 1 where each rank has a core of its own.
double ranks_per_core(const Scenario&);

// The scenario with the rates of what each rank has: a part of a core, or a core and its part of the memory.
Scenario with_rates_of_a_rank(const Scenario&);

// How many times its `memory_bandwidth` a core streams while so many of a node's work: its part of what all of them move together, up to
// what one moves alone. 1 where nobody measured that.
double times_streamed(const Device& core, double cores, double at_work);

// For how long the system leaves a core to another rank; zero where each has one of its own.
Seconds turn_of_core(const Scenario&);

}  // namespace sextant
