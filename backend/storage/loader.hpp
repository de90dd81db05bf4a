// Batches for training, made ahead of it by worker threads: read, decoded, resized, shuffled.
//
// The batches of an epoch come in the same order whatever the number of workers, and each rank of a job has its own part of the samples.
#pragma once

#include "backend/storage/dataset.hpp"
#include "backend/storage/numbers.hpp"
#include "model/base/quantity.hpp"

#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace sextant {

// What becomes of a sample that is missing, unreadable, damaged or of another shape than the first.
enum class BadSamples {
    fail,  // the stream ends with its error
    skip,  // the next good one of the epoch takes its place, so that a batch is full and all ranks make as many steps
};

struct ImageSize {
    std::int64_t height = 0, width = 0;
};

struct LoaderSettings {
    std::int64_t batch = 1;     // samples of this rank
    std::int64_t prefetch = 4;  // batches ahead of what was taken; none: one is begun when it is asked for
    int workers = 2;
    int rank = 0, ranks = 1;
    std::uint64_t seed = 1;
    std::optional<std::int64_t> epochs = 1;  // absent: without end
    bool shuffle = true;
    bool decode = true;    // else batches have labels and no values
    bool partial = false;  // an epoch ends with what is left, where it does not fill a batch; else that is left out
    BadSamples bad = BadSamples::fail;
    std::optional<ImageSize> resize;
    std::optional<Numbers> numbers;     // that the values become; absent: they stay bytes
    Seconds patience = 120 * units::s;  // for one batch; a filesystem that is gone may never answer
};

// What making a batch took of one worker. Times are of std::chrono::steady_clock.
struct BatchLoad {
    int worker = 0;
    std::int64_t sequence = 0;  // of the batch, over all epochs
    std::int64_t samples = 0;
    Seconds start, end;
    Seconds reading, decoding;  // decoding: resizing too, and making numbers
    Bytes read;
};

struct LoadedBatch {
    std::int64_t epoch = 0, number = 0;         // in the epoch
    Blob values;                                // of the samples, one behind the other
    std::vector<float> numbers;                 // in their place, where they were asked for
    std::vector<std::int64_t> labels, samples;  // samples: their numbers in the dataset
    BatchLoad work;
};

class Loader {
public:
    // Throws InputError where there are too few samples for a batch on every rank, or no good one; std::system_error where no thread can
    // be started.
    Loader(std::shared_ptr<const DatasetReader>, const LoaderSettings&);
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;
    ~Loader();  // waits for what its workers have at hand

    [[nodiscard]] const Extents& extents() const;  // of each sample; none where nothing is decoded

    // The next one; none behind the last epoch. Throws what a worker threw (InputError of a bad sample), when the batches before it are
    // taken; BackendError when nothing comes.
    std::optional<LoadedBatch> next();

    // What all batches took that were made so far, in the order in which they were done.
    [[nodiscard]] std::vector<BatchLoad> loads() const;

    // The samples that were skipped so far, each with what is wrong with it.
    [[nodiscard]] std::map<std::int64_t, std::string> skipped() const;

private:
    struct State;
    explicit Loader(std::shared_ptr<State> state) : state_(std::move(state)) {}

    std::shared_ptr<State> state_;  // the workers' too: one that never comes back is left behind
    std::vector<std::thread> workers_;
};

// Makes this process keep the memory of batches that were used up for those that come. Else each is given back to the system, whose fresh
// pages cost more than the copy into them: a fifth of the time of reading decoded images from a disk. For main(), before any thread.
void keep_freed_memory();

// The samples of an epoch in their order, those of one rank: every `ranks`-th, as many for each rank.
std::vector<std::int64_t> epoch_order(std::int64_t samples, const LoaderSettings&, std::int64_t epoch);

}  // namespace sextant
