// NumPy's file of an array (numpy.lib.format, version 1.0): magic, length of the header, a Python dictionary padded to 64 bytes, the
// values. Of bytes (|u1), or of records of an image and a label, which is what a whole dataset is.
#pragma once

#include "backend/storage/sample.hpp"

namespace sextant {

struct NpyHeader {
    std::uint64_t header_bytes = 0;  // the values begin behind them
    Extents extents;                 // of the array; of records: how many
    std::optional<Extents> record;   // extents of the image in each record, with an eight-byte label behind it; absent: an array of bytes

    [[nodiscard]] std::uint64_t value_bytes() const;
};

// Throws InputError, without a file's name. `start`: the beginning of the file, the whole header at least.
NpyHeader npy_header(BlobView start);
inline constexpr std::uint64_t longest_npy_header = 10 + 65535;

Blob npy_file(const Extents&, BlobView values);
Blob npy_records_header(std::int64_t records, const Extents& image);

bool is_npy(BlobView start);

}  // namespace sextant
