// The storage that a job names, on the nodes that it has.
#pragma once

#include "model/plan/scenario.hpp"

#include <vector>

namespace sextant {

// The local disk that all nodes of the job have. Null where the cluster has none, or fewer nodes with one than the job uses.
const StorageClass* local_disk_of_job(const Scenario&);

// The local disk of the cluster's nodes is this one, and not every node has it.
bool lies_on_some_nodes(const StorageClass&, const Cluster&);

// Problems that make data or checkpoints impossible where the scenario has them (pointers "/data/..."), all of them.
std::vector<Diagnostic> check_job_storage(const Scenario&);

}  // namespace sextant
