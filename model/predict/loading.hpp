// A benchmark of storage that feeds emulated accelerators, as MLPerf Storage does with DLIO: each of them takes a batch, sleeps for as long
// as its computation would take, and takes the next.
#pragma once

#include "model/base/quantity.hpp"
#include "model/plan/data_source.hpp"

#include <optional>

namespace sextant {

struct LoadingBenchmark {
    int hosts = 1, accelerators = 1;  // of all hosts
    double batch = 1;
    Seconds computation;  // of a batch
    int threads = 1;      // that read for each accelerator
    Bytes sample;
    DataFormat format = DataFormat::files;
    std::int64_t samples_per_file = 1;
    // The accelerators of a host are as many as storage keeps at work for this part of the time; absent: nobody says how many that would
    // be.
    std::optional<double> least_utilization;
    std::optional<Bandwidth> node_bandwidth;  // at most, of a host's storage; absent: what is not stated does not hold it up
};

// One sample of all accelerators together.
Seconds sample_time(const LoadingBenchmark&);

}  // namespace sextant
