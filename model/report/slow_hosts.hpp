// Hosts that are slower than the others, from the traces of a run and of its simulation.
//
// Of each host the time in which its ranks compute, and the rate of their fastest exchange, is held against what the simulation has for the
// same ranks: so stages of unlike work can be compared. The fastest, since whoever waits for a slow partner waits inside an exchange; and
// only where no host computes so slowly that it shows in the step. What all hosts share, such as a ring of which one link is slow, singles
// out none.
#pragma once

#include "model/graph/trace.hpp"

#include <optional>
#include <string>

namespace sextant {

struct SlowHost {
    std::string host;
    bool computes = false;  // slowly; else it exchanges slowly
    double times = 1;       // as slow as the median of the hosts
};
// The slowest, if it is noticeably slower than the others. Both traces have the same ranks.
std::optional<SlowHost> find_slow_host(const Trace& simulated, const Trace& measured);

}  // namespace sextant
