// What the files of a cluster say of the machine that they are of.
#pragma once

#include "model/hardware/catalog.hpp"
#include "model/io/calibration/cluster_records.hpp"
#include "model/io/measurement/measurement_scenario.hpp"

#include <string>
#include <vector>

namespace sextant {

// The links of a board, in the words of a published row: "pcie", "nvlink", "nvswitch".
std::string links_of(const GpuTopology&);

// The machine, where nobody names a profile. Throws InputError where the files do not tell which it is.
Cluster recorded_cluster(Catalog&, const ClusterRecords&, const MeasurementSources&);

// The name of the communication library of the curves; none where it is the cluster's own, or that of the jobs. Throws InputError where
// the curves are of several.
std::optional<std::string> recorded_library(const ClusterRecords&, const Cluster&);

// What calls over other devices than the cluster's say of its links is not what its owner asked for: a warning for each such file.
std::vector<std::string> foreign_devices(Catalog&, const ClusterRecords&, const Cluster&);

// All that was measured, as observations of this cluster. `host_memory`: the link over which buffers in host memory are copied. Throws
// InputError with every curve and job that the cluster has no place for.
std::vector<Observation> observations(const ClusterRecords&, const Cluster&, const LinkType& host_memory);

}  // namespace sextant
