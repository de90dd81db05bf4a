// The report on a storage benchmark.
#pragma once

#include "model/plan/storage_benchmark.hpp"
#include "model/predict/loading.hpp"
#include "model/report/condition.hpp"

#include <vector>

namespace sextant {

struct StorageReport {
    StorageBenchmark benchmark;
    StorageEstimate estimate;
};

// What all accelerators together read.
Bandwidth read_bandwidth(const LoadingEstimate&, const BenchmarkTraining&);
// Everything that a condition may ask about, in the order of the report.
std::vector<NamedQuantity> named_quantities(const StorageReport&);

}  // namespace sextant
