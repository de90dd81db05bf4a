// Datasets on disk, whatever their format: samples go in one after the other, and come out by number.
#pragma once

#include "backend/storage/sample.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace sextant {

// What is known of a dataset before it is written.
struct Outline {
    std::int64_t samples = 0;
    Encoding encoding = Encoding::raw;
    Extents extents;  // of the first sample; with the encoding `raw`, of all
};

// Safe to be read by several threads at once.
class DatasetReader {
public:
    DatasetReader() = default;
    DatasetReader(const DatasetReader&) = delete;
    DatasetReader& operator=(const DatasetReader&) = delete;
    virtual ~DatasetReader() = default;

    [[nodiscard]] virtual std::int64_t count() const = 0;
    // "train.tar: class_0003/00000012.png"
    [[nodiscard]] virtual std::string name(std::int64_t index) const = 0;
    // `index` is below count(); what `into` held before is lost. Throws InputError, with the sample's name, when it is missing, unreadable
    // or damaged.
    void read(std::int64_t index, Sample& into) const;

private:
    virtual void read_sample(std::int64_t index, Sample& into) const = 0;
};

// Throws BackendError when the disk refuses. A dataset is whole only when finish() has come back; the system may still have to bring it to
// the disk.
class DatasetWriter {
public:
    DatasetWriter() = default;
    DatasetWriter(const DatasetWriter&) = delete;
    DatasetWriter& operator=(const DatasetWriter&) = delete;
    virtual ~DatasetWriter() = default;

    virtual void append(const Sample&) = 0;
    virtual void finish() = 0;
};

// Wrong input that has no file yet: whoever calls knows its name.
[[noreturn]] void throw_damage(std::string what, std::string hint = {});
// Calls `work`, and puts `file()` to what it finds wrong and has no file.
void naming(const std::function<std::string()>& file, const std::function<void()>& work);

}  // namespace sextant
