// The files that a user has of a cluster, by their content: logs of benchmarks, `nvidia-smi topo -m`, records of runs, step times.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/calibrate/cluster_fit.hpp"
#include "model/io/calibration/benchmark_log.hpp"
#include "model/io/calibration/gpu_topology.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

// All that the files hold.
struct ClusterRecords {
    struct Job {
        std::string file;
        JobObserved observed;
    };
    std::vector<BenchmarkCurve> curves;
    std::vector<GpuTopology> topologies;
    std::vector<Job> jobs;
};

// A scenario that a file names, with its words of --set.
using LoadScenario = std::function<Scenario(const std::filesystem::path&, const std::vector<std::string>& overrides)>;

// Adds what is wrong with any of the files.
ClusterRecords read_cluster_records(const std::vector<std::filesystem::path>&, const LoadScenario&, Diagnostics&);

// Of these files, how many are published measurements, or are taken for them.
std::size_t count_measurements(const std::vector<std::filesystem::path>&, Diagnostics&);

}  // namespace sextant
