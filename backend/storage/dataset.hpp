// Datasets on disk, in any format. Samples are written one after the other and read by number.
#pragma once

#include "backend/storage/sample.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace sextant {

// What must be known of a dataset before it is written.
struct Outline {
    std::int64_t samples = 0;
    SampleEncoding encoding = SampleEncoding::raw;
    Extents extents;  // of the first sample; with the encoding `raw`, of all
};

// Several threads may read at the same time.
class DatasetReader {
public:
    DatasetReader() = default;
    DatasetReader(const DatasetReader&) = delete;
    DatasetReader& operator=(const DatasetReader&) = delete;
    virtual ~DatasetReader() = default;

    [[nodiscard]] virtual std::int64_t count() const = 0;
    // "train.tar: class_0003/00000012.png"
    [[nodiscard]] virtual std::string name(std::int64_t index) const = 0;
    // Replaces the contents of `into`. `index` must be below count(). Throws InputError, with the sample's name, when it is missing,
    // unreadable or damaged.
    void read(std::int64_t index, Sample& into) const;

private:
    virtual void read_sample(std::int64_t index, Sample& into) const = 0;
};

// Throws BackendError when the disk refuses. The dataset is complete only after finish(); the system may still hold a part of it in memory.
class DatasetWriter {
public:
    DatasetWriter() = default;
    DatasetWriter(const DatasetWriter&) = delete;
    DatasetWriter& operator=(const DatasetWriter&) = delete;
    virtual ~DatasetWriter() = default;

    virtual void append(const Sample&) = 0;
    virtual void finish() = 0;
};

// Throws an InputError without a file name, which the caller knows and adds.
[[noreturn]] void throw_damage(std::string what, std::string hint = {});
// Calls `work`, and adds `file()` to the diagnostics of an InputError that have no file.
void naming(const std::function<std::string()>& file, const std::function<void()>& work);

}  // namespace sextant
