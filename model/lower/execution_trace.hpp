// An execution trace as a task graph.
//
// Kernels, host work and copies are segments of a stream each. The n-th collective of a group, by the nodes' ids, is the same call on all
// its ranks; a receive waits for the send of its peer. The order in which all of that would happen if no stream were ever busy and
// communication took no time, the lowest id first among equals, is the order of each rank's collectives and sends; the rest may start as
// soon as it is ready (play_as_ready in model/simulate/simulate.hpp).
#pragma once

#include "model/graph/execution_trace.hpp"

namespace sextant {

// Throws InputError: nodes that wait for none that is there or for each other, ranks that do not come to the same calls.
RecordedGraph lower(const ExecutionTrace&);

}  // namespace sextant
