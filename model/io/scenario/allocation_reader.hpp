// What a job was given of its nodes: `devices_per_node`, `node_list`, `reserved_devices` and `cores` of a scenario's hardware.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/plan/scenario.hpp"

namespace sextant {

void read_allocation(ObjectReader&, Scenario&);

// Devices on each node: a number, a list of one for each node, or what SLURM_TASKS_PER_NODE says.
struct DevicesOfNodes {
    std::optional<int> each;   // of all nodes but the last, which may have fewer
    std::vector<int> of_node;  // as they were listed; empty where they were not
    [[nodiscard]] bool uneven() const { return !of_node.empty() && !each; }
};
DevicesOfNodes read_devices_of_nodes(ObjectReader&);

// The nodes that the job was given, as SLURM_JOB_NODELIST says it: ranks fill them in this order.
void read_node_list(ObjectReader&, Cluster&);

// Where devices are CPUs, and the job has fewer cores than its devices on a node: they compute at that part of their rates. Says so among
// the scenario's assumptions.
void leave_part_of_cores(Scenario&);

}  // namespace sextant
