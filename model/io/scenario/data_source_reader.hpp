// The `data` of a scenario: docs/scenario_format.md describes it.
#pragma once

#include "model/hardware/cluster.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/plan/data_source.hpp"

#include <functional>

namespace sextant {

// A storage class by the name that the cluster knows it by, as "local" or "shared", or as `find` has it. It comes back completed.
StorageClass read_job_storage(const JsonNode&, const std::function<StorageClass(const JsonNode&)>& find, const Cluster&);

// `find`: looks up what is neither the cluster's nor "local". Storage comes back completed.
void read_data_source(const JsonNode&, const std::function<StorageClass(const JsonNode&)>& find, const Cluster&, DataSource&);

}  // namespace sextant
