// The formats of datasets. Each has a file of its own (format_*.cpp), which describes it. To add one, declare it here and list it in
// formats.cpp.
#pragma once

#include "backend/storage/dataset.hpp"

#include <memory>
#include <span>

namespace sextant {

struct DatasetFormat {
    std::string_view name;  // "tar"
    bool arrays_only;       // takes only samples of one shape that are not encoded
    // Whether a file with this beginning has the format. A folder always has the format `files`.
    bool (*begins_so)(BlobView start);
    // Throws InputError, without a file name, when the dataset is damaged or missing.
    std::unique_ptr<DatasetReader> (*open)(const std::filesystem::path&);
    // Throws BackendError.
    std::unique_ptr<DatasetWriter> (*create)(const std::filesystem::path&, const Outline&);
};

const DatasetFormat& files_format();
const DatasetFormat& tar_format();
const DatasetFormat& zip_format();
const DatasetFormat& hdf5_format();
const DatasetFormat& lmdb_format();
const DatasetFormat& tfrecord_format();
const DatasetFormat& npy_format();
const DatasetFormat& raw_format();

std::span<const DatasetFormat* const> dataset_formats();
// Throws InputError for an unknown name, with the closest known one as a hint.
const DatasetFormat& format_named(std::string_view name);
// The format of the dataset at this path, recognized by its first bytes. Throws InputError.
const DatasetFormat& format_at(const std::filesystem::path&);

// Throws InputError, with the file name, also where the dataset has no samples.
std::unique_ptr<DatasetReader> open_dataset(const std::filesystem::path&);

}  // namespace sextant
