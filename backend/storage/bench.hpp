// Measures how fast a dataset is opened, read, decoded and written where it lies.
#pragma once

#include "backend/storage/dataset.hpp"
#include "backend/storage/loader.hpp"
#include "model/base/quantity.hpp"

#include <string>
#include <vector>

namespace sextant {

struct BenchSettings {
    std::filesystem::path path;
    std::vector<int> workers = {1, 2};
    bool cold = false, warm = true;
    bool in_order = true;
    bool write = false;
    int epochs = 3;
    std::uint64_t seed = 1;
    BadSamples bad = BadSamples::fail;
    std::optional<ImageSize> resize;
};

// One quantity, measured several times.
struct BenchRow {
    std::string what;  // "read in order"
    int workers = 1;
    bool cold = false;
    std::int64_t samples = 0;    // in each time
    Bytes bytes;                 // of the samples, as they lie there
    std::vector<Seconds> times;  // ordered
    double read_calls = 0;       // of the system, in the last time
    Bytes from_disk;

    [[nodiscard]] Seconds median() const;
};

struct BenchResult {
    std::string path, format, encoding, extents;  // the last two: of the first good sample
    std::int64_t samples = 0;
    Bytes bytes;  // of all samples
    std::vector<BenchRow> rows;
    std::vector<std::string> notes;  // what was not as asked: what stayed in memory, what was skipped
};

// `progress` is called now and then with the repetitions done and their total; an exception that it throws ends the work. Throws InputError
// for a bad dataset, BackendError when the disk refuses.
BenchResult bench_dataset(const BenchSettings&, const std::function<void(std::int64_t done, std::int64_t of)>& progress);

std::string bench_to_text(const BenchResult&);
std::string bench_to_json(const BenchResult&);

}  // namespace sextant
