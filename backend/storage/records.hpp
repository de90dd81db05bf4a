// A file of records of equal size behind a header. A record has the values of a sample and, in some formats, its label.
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

// Throws InputError when the size of the file is not what the layout says.
std::unique_ptr<DatasetReader> make_record_reader(const std::filesystem::path&, InputFile, RecordLayout);
std::unique_ptr<DatasetWriter> make_record_writer(const std::filesystem::path&, const Blob& header);

}  // namespace sextant
