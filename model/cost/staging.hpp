// What is written to storage: copies of samples on storage nearby, and checkpoints. docs/model/input.md derives it.
#pragma once

#include "model/cost/input.hpp"

#include <optional>

namespace sextant {

// Each of `nodes` nodes reads `samples` samples from `from` and writes them to `to`, one after another.
struct StagingJob {
    StorageClass from, to;
    DataFormat format = DataFormat::files;
    Bytes sample;
    std::optional<std::int64_t> samples_per_file;
    double samples = 0;
    StagingMode mode = StagingMode::copy;
    double nodes = 1;
    double others = 0;
    Bandwidth network;
};
struct StagingTime {
    Seconds copy, unpack, remove;
    Seconds remove_unwritten;  // instead of `remove`, while the system has not yet written the data back to the storage
    [[nodiscard]] Seconds total() const { return copy + unpack + remove; }
    // With this much time between the last write and the removal.
    [[nodiscard]] StagingTime after(Seconds) const;
};
StagingTime staging_time(const StagingJob&);
// Where such a copy reads its samples.
SampleSource copied_from(const StagingJob&);

// Who writes a checkpoint, each its part as one file.
struct CheckpointWriters {
    double count = 1, nodes = 1;
    Bandwidth network;  // of a node, to shared storage; zero: no limit
    double left = 1;    // the fraction of shared storage that nobody else takes
};
Seconds checkpoint_time(Bytes, const StorageClass&, const CheckpointWriters&);
// How long those who wrote it take to read it back.
Seconds checkpoint_read_time(Bytes, const StorageClass&, const CheckpointWriters&);

}  // namespace sextant
