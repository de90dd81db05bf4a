// The path between workers and parameter servers. docs/model/data_parallel.md describes it. Internal to predict.
#pragma once

#include "model/hardware/topology.hpp"
#include "model/plan/scenario.hpp"

#include <limits>

namespace sextant {

// The bandwidth that one worker gets inside its node and between nodes while every worker sends to all servers at once. The way back is the
// same, since links are equally fast in both directions.
struct ServerPath {
    Bandwidth host = endless, network = endless;
    int servers = 1;    // all of them
    int on_a_host = 1;  // those that share the memory of one host
    [[nodiscard]] bool inside_hosts() const { return network == endless; }

private:
    static constexpr Bandwidth endless = Bandwidth::from_si(std::numeric_limits<double>::infinity());
};

// Neglects the fabric above the nodes' own links. One topology serves all plans on the same number of nodes.
ServerPath server_path(const Scenario&, const Topology& of_workers);

}  // namespace sextant
