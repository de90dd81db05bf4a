// How fast storage feeds emulated accelerators, and takes their checkpoints. docs/model/input.md derives it.
#pragma once

#include "model/cost/input.hpp"
#include "model/plan/storage_benchmark.hpp"

#include <optional>

namespace sextant {

struct LoadingEstimate {
    Seconds batch;                     // of an accelerator, from one to the next
    double utilization = 0;            // the part of it that accelerators compute
    Frequency samples;                 // of all accelerators
    std::optional<LoaderLimit> limit;  // none: the accelerators themselves
};
// The benchmark has training. `cached`: the part of the samples that hosts find in their memory.
LoadingEstimate estimate_loading(const StorageBenchmark&, int accelerators, double cached = 0);

struct EmulatedRun {
    // The largest number of accelerators that are at work for long enough: 0 where one is not, none where nothing that is stated of the
    // storage holds up any number of them (beyond `most_emulated`), or no utilization is asked for.
    std::optional<int> most;
    LoadingEstimate first, later;  // epochs
    double cached = 0;             // in later ones, the part of the samples
    std::int64_t steps = 0;        // of an epoch
    Seconds first_epoch, later_epoch;
};
inline constexpr int most_emulated = 10'000;

struct CheckpointRun {
    int writers = 1;
    Seconds write, read;  // of one checkpoint
    double writes = 0;    // in the run
};

struct StorageEstimate {
    int accelerators = 1;  // that the rest is of
    std::optional<EmulatedRun> training;
    std::optional<CheckpointRun> checkpoint;
    Seconds run;  // all epochs, and the checkpoints that are written
};
StorageEstimate estimate(const StorageBenchmark&);

}  // namespace sextant
