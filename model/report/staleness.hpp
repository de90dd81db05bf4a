// How stale gradients are under asynchronous training: the age of the weights that they were computed from.
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

// The mean over all updates of a long run of this many workers, whose weights leave as soon as their update is made. While a worker of rate
// r makes one update, all workers together, of rate R, make R / r. A worker of rate r makes the fraction r / R of all updates, so the mean
// of R / r - 1 over all updates is workers - 1, however fast each one is. Neglects that weights may leave late, which lessens staleness.
double expected_staleness(int workers);

}  // namespace sextant
