// The prices of what an execution trace recorded.
//
//   kernels        as long as they took; where no time is stated, max( flops / rate, bytes / memory bandwidth ), with the rate of large
//                  products of one data type and the bandwidth of streaming
//   host work      as long as it took
//   copies         bytes / bandwidth of the device's link to its host
//   communication  by the library's fastest algorithm (collectives.hpp), whose bytes cross the links. The bytes in the trace are those of
//                  a rank's buffer: for an all_gather what each rank gives, for a reduce_scatter what each rank has before
//
// Neglected: that a trace's kernels ran beside communication and were slowed down by it.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/execution_trace.hpp"
#include "model/hardware/topology.hpp"

#include <vector>

namespace sextant {

struct ReplayMachine {
    const Cluster& cluster;
    const Topology& topology;
    const std::vector<DeviceIndex>& device_of;  // by rank
    const CommunicationLibrary& library;
    DataType type = DataType::bf16;  // of the products of kernels whose time is not stated
};

CostTable price_recorded(const RecordedGraph&, const ReplayMachine&);

}  // namespace sextant
