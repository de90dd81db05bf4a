// Hosts that are slower than the others, from the traces of a run and of its simulation.
//
// For each host, the time in which its ranks compute and the rate of their fastest exchange are compared with those of the same ranks in
// the simulation, so that stages with different work can be compared. The fastest exchange, because a rank that waits for a slow partner
// waits inside an exchange; and exchanges count only where no host computes noticeably slowly. What all hosts share, such as a ring with
// one slow link, singles out none of them.
#pragma once

#include "model/graph/trace.hpp"

#include <optional>
#include <string>

namespace sextant {

struct SlowHost {
    std::string host;
    bool computes = false;  // true: it computes slowly; false: it exchanges slowly
    double times = 1;       // how many times as slow as the median of the hosts
};
// The slowest, if it is noticeably slower than the others. Both traces have the same ranks.
std::optional<SlowHost> find_slow_host(const Trace& simulated, const Trace& measured);

}  // namespace sextant
