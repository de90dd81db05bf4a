// Batches for training, which worker threads prepare ahead: shuffled, read, decoded and resized.
//
// The batches of an epoch come in the same order for any number of workers. Each rank of a job has its own part of the samples.
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

// What happens to a sample that is missing, unreadable, damaged or of another shape than the first.
enum class BadSamples {
    fail,  // the loader ends with its error
    skip,  // the next good sample of the epoch takes its place, so that batches are full and all ranks make equally many steps
};

struct ImageSize {
    std::int64_t height = 0, width = 0;
};

struct LoaderSettings {
    std::int64_t batch = 1;     // samples of this rank
    std::int64_t prefetch = 4;  // batches to prepare ahead; 0: a batch is begun when it is asked for
    int workers = 2;
    int rank = 0, ranks = 1;
    std::uint64_t seed = 1;
    std::optional<std::int64_t> epochs = 1;  // absent: endlessly many
    bool shuffle = true;
    bool decode = true;    // else batches have labels but no values
    bool partial = false;  // an epoch ends with a smaller batch of the remaining samples; else these are left out
    BadSamples bad = BadSamples::fail;
    std::optional<ImageSize> resize;
    std::optional<Numbers> numbers;    // what the values are converted to; absent: they stay bytes
    Seconds timeout = 120 * units::s;  // the longest wait for a batch: a filesystem that is gone may never answer
};

// The time that a worker spent on a batch. Instants are those of std::chrono::steady_clock.
struct BatchLoad {
    int worker = 0;
    std::int64_t sequence = 0;  // of the batch, over all epochs
    std::int64_t samples = 0;
    Seconds start, end;
    Seconds reading, decoding;  // decoding: with resizing and conversion to numbers
    Bytes read;
};

struct LoadedBatch {
    std::int64_t epoch = 0, number = 0;         // number: in the epoch
    Blob values;                                // of all samples, one after the other
    std::vector<float> numbers;                 // in place of `values`, where LoaderSettings::numbers is set
    std::vector<std::int64_t> labels, samples;  // samples: their numbers in the dataset
    BatchLoad work;
};

class Loader {
public:
    // Throws InputError where there are too few samples for a batch on every rank, or no good one, and std::system_error where no thread
    // can be started.
    Loader(std::shared_ptr<const DatasetReader>, const LoaderSettings&);
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;
    ~Loader();  // waits for the samples that its workers are reading

    [[nodiscard]] const Extents& extents() const;  // of each sample; empty where nothing is decoded

    // The next batch; none after the last epoch. Throws what a worker threw (InputError for a bad sample) once the batches before it have
    // been taken, and BackendError when no batch comes in time.
    std::optional<LoadedBatch> next();

    // The loads of all batches so far, in the order in which they were done.
    [[nodiscard]] std::vector<BatchLoad> loads() const;

    // The samples that were skipped so far, each with what is wrong with it, by number.
    [[nodiscard]] std::map<std::int64_t, std::string> skipped() const;

private:
    struct State;
    explicit Loader(std::shared_ptr<State> state) : state_(std::move(state)) {}

    std::shared_ptr<State> state_;  // shared with the workers: one that never returns is left behind
    std::vector<std::thread> workers_;
};

// Makes this process keep freed memory for later batches. Otherwise it goes back to the system, whose fresh pages cost more than the copy
// into them: a fifth of the time of reading decoded images from a disk. To be called by main() before any thread is started.
void keep_freed_memory();

// The samples of one rank in an epoch, in their order: every `ranks`-th, equally many for each rank.
std::vector<std::int64_t> epoch_order(std::int64_t samples, const LoaderSettings&, std::int64_t epoch);

}  // namespace sextant
