// The way between workers and parameter servers. docs/model/data_parallel.md describes it. Internal to predict.
#pragma once

#include "model/hardware/topology.hpp"
#include "model/plan/scenario.hpp"

#include <limits>

namespace sextant {

// While all workers go it, each to all servers at once: what links inside nodes, and links between them, leave one worker. Back it is the
// same, for links are as fast either way.
struct ServerWay {
    Bandwidth host = endless, network = endless;
    int servers = 1, on_a_host = 1;  // all, and those that share the memory of one host

private:
    static constexpr Bandwidth endless = Bandwidth::from_si(std::numeric_limits<double>::infinity());
};

// What fabric there is above the nodes' own links is not looked at. One topology serves all plans on as many nodes.
ServerWay server_way(const Scenario&, const Topology& of_workers);

}  // namespace sextant
