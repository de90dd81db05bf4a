// Execution traces as files of Chakra, as ASTRA-sim takes them: what its feeder asks of a node's attributes is there
// (github.com/astra-sim/astra-sim, astra-sim/workload: Workload.cc, HardwareResource.cc).
//
// Times are in whole microseconds. What rounding takes from a node the next one of its kind gets, so that the times of a rank's kernels
// together, and of its host work, are right to half a microsecond. A node that comes to none has no operations either: readers would take
// these for its price.
#pragma once

#include "model/graph/execution_trace.hpp"

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace sextant {

void write_chakra(std::ostream&, const RecordedRank&, int rank);

// {"1": [0, 2], ...}, as read_chakra_groups has it.
std::string chakra_groups_to_json(const std::map<std::string, std::vector<int>>&);
// [0, 1, 0, 1]: the node of each rank, as read_chakra_nodes has it. ASTRA-sim knows nothing of it.
std::string chakra_nodes_to_json(const std::vector<int>&);

}  // namespace sextant
