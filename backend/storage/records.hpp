// A file of records of one size behind a header: each the values of a sample and its label.
#pragma once

#include "backend/storage/dataset.hpp"
#include "backend/storage/file.hpp"

#include <memory>

namespace sextant {

inline constexpr std::uint64_t label_bytes = 8;  // of a record that has one

struct RecordLayout {
    std::uint64_t header_bytes = 0;
    std::int64_t records = 0;
    Extents extents;          // of one sample
    bool has_labels = false;  // behind the values
};

// Throws InputError when the file has not the size that the layout promises.
std::unique_ptr<DatasetReader> make_record_reader(const std::filesystem::path&, InputFile, RecordLayout);
std::unique_ptr<DatasetWriter> make_record_writer(const std::filesystem::path&, const Blob& header);

}  // namespace sextant
