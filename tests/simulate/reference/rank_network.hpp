// Links and the routes between ranks, as plain as flows need them.
#pragma once

#include "model/base/quantity.hpp"
#include "model/hardware/topology.hpp"
#include "model/simulate/fluid_network.hpp"

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace sextant {

struct FlowRoute {
    std::vector<LinkUse> uses;
    Seconds latency;  // of all hops together; passes before the first byte moves
    Bandwidth limit = Bandwidth::from_si(std::numeric_limits<double>::infinity());
};

struct RankNetwork {
    std::vector<Bandwidth> capacities;                 // by link
    std::function<FlowRoute(int from, int to)> route;  // between two ranks, which differ
};

struct Wire {
    Bandwidth bandwidth;  // in each direction
    Seconds latency;
};

// All ranks on one switch.
RankNetwork star(int ranks, Wire port);

// Leaf switches with so many ranks each; every leaf has one uplink to every spine. What goes to rank r crosses spine r mod spines.
struct FatTree {
    int leaves = 1, ranks_per_leaf = 1, spines = 1;
    Wire port, uplink;
};
RankNetwork fat_tree(const FatTree&);

// Rank i is `members[i]`; the topology must outlive the network. Copies staged in host memory load each link for its full bandwidth and
// go no faster than their path's bottleneck.
RankNetwork network_of(const Topology&, std::span<const DeviceIndex> members);

}  // namespace sextant
