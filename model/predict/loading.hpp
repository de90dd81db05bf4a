// How fast storage feeds emulated accelerators, and takes their checkpoints. docs/model/input.md derives it.
#pragma once

#include "model/cost/staging.hpp"
#include "model/plan/storage_benchmark.hpp"

#include <optional>

namespace sextant {

struct LoadingEstimate {
    Seconds batch;                     // from one batch of an accelerator to the next
    double utilization = 0;            // the fraction of that during which it computes
    Frequency samples;                 // of all accelerators together
    std::optional<LoaderLimit> limit;  // none: the accelerators themselves are the limit
};
// Of a benchmark that has training. `cached`: the fraction of the samples that hosts find in their memory.
LoadingEstimate estimate_loading(const StorageBenchmark&, int accelerators, double cached = 0);

struct EmulatedRun {
    // The largest number of accelerators that reach the utilization asked for: 0 where even one does not. None where no utilization is
    // asked for, or nothing stated about the storage limits their number (up to `most_emulated`).
    std::optional<int> most;
    LoadingEstimate first, later;  // the first epoch, and later ones
    double cached = 0;             // the fraction of the samples that later epochs find in memory
    std::int64_t steps = 0;        // of an epoch
    Seconds first_epoch, later_epoch;
};
inline constexpr int most_emulated = 10'000;

struct CheckpointRun {
    int writers = 1;
    Seconds write, read;  // of one checkpoint
    double writes = 0;    // checkpoints written in the run
};

struct StorageEstimate {
    int accelerators = 1;  // that the rest is for
    std::optional<EmulatedRun> training;
    std::optional<CheckpointRun> checkpoint;
    Seconds run;  // all epochs, and the checkpoints that are written
};
StorageEstimate estimate(const StorageBenchmark&);

}  // namespace sextant
