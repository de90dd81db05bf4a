// The formats, by name. Each has a file of its own (format_*.cpp) that says what it is; to add one, declare it here and name it in
// formats.cpp.
#pragma once

#include "backend/storage/dataset.hpp"

#include <memory>
#include <span>

namespace sextant {

struct DatasetFormat {
    std::string_view name;  // "tar"
    bool arrays_only;       // holds samples of one shape that are not encoded
    // Whether a file that begins so is one. Folders are `files`.
    bool (*begins_so)(BlobView start);
    // Throws InputError, without a file's name, when it is damaged or absent.
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
// Throws InputError, with what it may have meant.
const DatasetFormat& format_named(std::string_view name);
// What lies there, by how it begins. Throws InputError.
const DatasetFormat& format_at(const std::filesystem::path&);

// Throws InputError, with the file's name, also where there is no sample in it.
std::unique_ptr<DatasetReader> open_dataset(const std::filesystem::path&);

}  // namespace sextant
