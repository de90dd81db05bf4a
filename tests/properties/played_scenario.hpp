// A scenario lowered, priced and placed, to be played in more ways than the facade does.
#pragma once

#include "model/lower/lower.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/rank_layout.hpp"
#include "model/predict/cost_table.hpp"
#include "model/simulate/simulate.hpp"

namespace sextant {

struct PlayableScenario {
    PlayableScenario(const Scenario& s, Fold fold)
        : job(prepare(s)), graph(lower(s, fold)), table(cost_table(job, graph)), topology(topology_of(s)), placement(placement_of(s)) {}

    [[nodiscard]] Simulation play(const Jitter& jitter = {}) const { return simulate(graph, table, topology, placement, jitter); }

    Prepared job;
    TaskGraph graph;
    CostTable table;
    Topology topology;
    Placement placement;

private:
    static int servers(const Scenario& s) {
        const DataParallel dp = s.plan.data_parallel;
        return dp == DataParallel::parameter_server || dp == DataParallel::async_parameter_server ? parameter_server_count(s) : 0;
    }
    // Servers that do not share the workers' hosts stand on nodes of their own, after theirs.
    static Topology topology_of(const Scenario& s) {
        return Topology::build(s.cluster, used_nodes(s) + (s.plan.servers_on_workers ? 0 : servers(s)), uses_sockets(s));
    }
    static Placement placement_of(const Scenario& s) {
        Placement placement;
        const int nodes = used_nodes(s);
        const RankLayout layout(s.plan, nodes, s.cluster.node.devices);
        for (int r = 0; r < layout.ranks(); ++r) placement.device_of.push_back(layout.device_of(r));
        for (int v = 0; v < servers(s); ++v) placement.node_of_server.push_back(s.plan.servers_on_workers ? v % nodes : nodes + v);
        return placement;
    }
};

}  // namespace sextant
