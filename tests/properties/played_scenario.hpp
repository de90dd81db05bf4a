// A scenario lowered, priced and placed, to be played in more ways than the facade does.
#pragma once

#include "model/lower/lower.hpp"
#include "model/predict/cost_table.hpp"
#include "model/sextant.hpp"

namespace sextant {

struct PlayableScenario {
    PlayableScenario(const Scenario& s, Fold fold)
        : job(prepare(s)), graph(lower(s, fold)), table(cost_table(job, graph)), machine(used_machine(job)) {}

    [[nodiscard]] Simulation play(const Jitter& jitter = {}) const {
        return simulate(graph, table, *machine.topology, machine.placement, jitter);
    }

    Prepared job;
    TaskGraph graph;
    CostTable table;
    UsedMachine machine;
};

}  // namespace sextant
