// A storage benchmark without devices, as DLIO runs it for MLPerf Storage: each emulated accelerator takes a batch, sleeps as long as its
// computation would take, waits for the others and takes the next; and ranks write checkpoints.
#pragma once

#include "model/plan/data_source.hpp"

#include <string>
#include <vector>

namespace sextant {

// What each accelerator does, and with which samples.
struct BenchmarkTraining {
    double batch = 1;
    Seconds computation;     // of a batch
    int readers = 1;         // threads that read for each accelerator; 0: its own, between its steps
    Seconds preparation;     // of a sample, by the thread that read it
    std::int64_t files = 1;  // of an epoch
    std::int64_t samples_per_file = 1;
    Bytes sample;
    DataFormat format = DataFormat::files;
    SampleEncoding encoding = SampleEncoding::raw;
    Shuffle shuffle = Shuffle::window;
    std::int64_t epochs = 1;
    std::optional<std::int64_t> steps;        // of an epoch, at most
    std::optional<double> least_utilization;  // the fraction of its time that an accelerator has to compute for a result to count

    [[nodiscard]] double samples() const { return static_cast<double>(files) * static_cast<double>(samples_per_file); }
};

struct BenchmarkCheckpoint {
    Bytes size;                  // of all its files
    std::optional<int> writers;  // absent: every accelerator
    std::int64_t first_epoch = 1, every_epochs = 1;
    std::optional<std::int64_t> every_steps;  // of an epoch, in place of both
    std::optional<std::int64_t> writes;       // without training: how many
};

struct StorageBenchmark {
    std::string title, file;
    std::vector<std::string> notes;  // what its source says that is not predicted, and the like
    StorageClass storage;            // complete
    int hosts = 1;
    std::optional<int> accelerators;   // of all hosts; absent: as many as the storage keeps at work
    std::optional<Bandwidth> network;  // of a host, to storage that is shared
    double other_jobs = 0;             // what they take of storage that is shared, a fraction
    Bytes page_cache;                  // of a host. None: MLPerf Storage asks for datasets that no memory holds
    std::optional<BenchmarkTraining> training;
    std::optional<BenchmarkCheckpoint> checkpoint;
    // The submitted number of accelerators is the most that the storage keeps busy, and little else is known about it.
    bool has_most_accelerators = false;
};

}  // namespace sextant
