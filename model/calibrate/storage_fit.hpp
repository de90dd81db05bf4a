// The class of a storage from what was measured on it.
#pragma once

#include "model/cost/input.hpp"
#include "model/hardware/storage.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// Each as far as it was measured. Latencies are of one thread that waits for each; a parallel rate is of so many threads at the same time.
struct StorageProbe {
    template <class Rate>
    struct Parallel {
        int threads = 1;
        Rate rate;
    };
    static constexpr Bytes few = 4 * units::KiB, piece = storage_piece;
    std::string where;  // "/scratch on node7"
    StorageKind kind = StorageKind::ssd;
    bool shared = false;
    std::vector<Seconds> opens, seeks;       // of single files with their first bytes; of a few bytes at a place in an open one
    std::vector<Seconds> pieces;             // of half a MiB at a place in an open file
    std::vector<Seconds> creates, removes;   // of small files, with what brings them to the disk
    std::vector<Seconds> removes_unwritten;  // of some that the disk does not have yet
    std::vector<Parallel<Frequency>> open_rates, seek_rates;
    std::vector<Parallel<Bandwidth>> reads, writes;  // of large files, in order
    std::optional<Bytes> capacity, read_ahead;
    std::vector<std::string> notes;  // what was not as it should have been
};

// Latencies are means, for a run pays the sum, without the slowest hundredth, which is noise of others. What a few bytes at a place take
// and what half a MiB takes are a line: its slope is what comes piece by piece, and where it begins is a seek. One stream is what one
// thread reads, in the middle of its passes; where more threads get more, the most that they get bounds a node, and so do operations. Of
// storage that others share no more is known than what one node could draw from it; that is stated as what it has. Throws InputError where
// nothing was measured.
StorageClass fit_storage(const StorageProbe&, const std::string& name, const std::string& source);

}  // namespace sextant
