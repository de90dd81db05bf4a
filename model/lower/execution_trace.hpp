// An execution trace as a task graph.
//
// Kernels, host work and copies each have a stream. The n-th collective of a group, by the nodes' ids, is the same call on all its
// ranks; a receive waits for the send of its peer. Each rank's collectives and sends are ordered as they would happen if no stream
// were ever busy and communication took no time, the lowest id first among equals; the rest may start as soon as it is ready
// (play_as_ready in model/simulate/simulate.hpp).
#pragma once

#include "model/graph/execution_trace.hpp"

namespace sextant {

// Throws InputError where nodes wait for nodes that do not exist or for each other, or where ranks do not make the same calls.
RecordedGraph lower(const ExecutionTrace&);

}  // namespace sextant
