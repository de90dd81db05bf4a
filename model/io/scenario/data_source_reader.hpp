// The `data` of a scenario: docs/scenario_format.md describes it.
#pragma once

#include "model/hardware/cluster.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/plan/data_source.hpp"

#include <functional>

namespace sextant {

// One of the cluster's file systems by its name, "local", "shared", or a storage class as `find` has it. It comes back completed.
StorageClass read_job_storage(const JsonNode&, const std::function<StorageClass(const JsonNode&)>& find, const Cluster&);

// `find`: looks up what is neither the cluster's nor "local". Storage comes back completed.
void read_data_source(const JsonNode&, const std::function<StorageClass(const JsonNode&)>& find, const Cluster&, DataSource&);

}  // namespace sextant
