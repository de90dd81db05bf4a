// SimGrid as a child process (simgrid_helper.cpp), for what compares with it.
#pragma once

#include "tests/simulate/reference/collective_flows.hpp"

#include <vector>

namespace sextant::simgrid {

inline constexpr const char* not_installed = "SimGrid is not installed (Debian: libsimgrid-dev)";

struct Link {
    Bandwidth bandwidth;
    Seconds latency;
};
struct Flow {
    Seconds start;
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> links;
};

bool installed();
// When each flow ends, in seconds; empty where the helper failed.
std::vector<double> flow_ends(const std::vector<Link>&, const std::vector<Flow>&);
// When a ring of one kind of rounds ends; infinite where the helper failed. `latencies` by link of the network, or one for all.
double ring_end(const RankNetwork&, const std::vector<Seconds>& latencies, const CollectiveSchedule&);

}  // namespace sextant::simgrid
