// How old the weights are that a worker's gradients are applied to, where nobody waits for anybody.
#pragma once

#include "model/graph/task_graph.hpp"
#include "model/graph/trace.hpp"

namespace sextant {

// Staleness of a step: the updates by other workers that the servers made between the moment when the worker's weights left them and the
// last update with the gradients that it made of these (Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel
// Parameter Server", NIPS 2013, count it in clocks; here it is counted in workers' steps).
struct Staleness {
    double mean = 0;
    int largest = 0;
    int updates = 0;  // steps of workers that were counted: all but each worker's first, whose weights are the initial ones
};

Staleness staleness_of(const TaskGraph&, const Trace&);

// Its mean over all updates where so many workers go on for long, whose weights leave as soon as their update is made. While a worker makes
// one update, all together make R / r, of rates R and r. A worker of rate r makes the part r / R of all updates, so that the mean of
// R / r - 1 over them is workers - 1, however fast each is. Neglects that weights may leave late, which lessens it.
double expected_staleness(int workers);

}  // namespace sextant
