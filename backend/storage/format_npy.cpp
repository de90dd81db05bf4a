// One array of NumPy: records of ('image', uint8) and ('label', int64), which numpy.load(..., mmap_mode="r") reads too; or images alone,
// all of class 0.
#include "backend/storage/formats.hpp"
#include "backend/storage/npy.hpp"
#include "backend/storage/records.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

RecordLayout layout_of(const NpyHeader& header) {
    if (header.record) return {header.header_bytes, header.extents.front(), *header.record, true};
    if (header.extents.size() < 2)
        throw_damage("it is an array of one dimension, and no dataset", "the first dimension counts the samples");
    return {header.header_bytes, header.extents.front(), Extents(header.extents.begin() + 1, header.extents.end()), false};
}

}  // namespace

// One NumPy array of all samples and labels.
const DatasetFormat& npy_format() {
    static const DatasetFormat format = {"npy", true, is_npy,
                                         [](const fs::path& path) {
                                             InputFile file(path);
                                             RecordLayout layout = layout_of(npy_header(file.head(longest_npy_header)));
                                             return make_record_reader(path, std::move(file), std::move(layout));
                                         },
                                         [](const fs::path& path, const Outline& outline) {
                                             return make_record_writer(path, npy_records_header(outline.samples, outline.extents));
                                         }};
    return format;
}

}  // namespace sextant
