// Files in a zip archive, written by libarchive. Read by its table of contents, which stands at the end (PKWARE, APPNOTE.TXT 6.3.10,
// sections 4.3.7 to 4.3.16), so that one sample costs one place: libarchive reads archives from front to back only.
#include "backend/storage/archive_writer.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/sample_names.hpp"

#include <algorithm>
#include <utility>

#include <zlib.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t local_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50, end64_mark = 0x06064b50,
                        locator64_mark = 0x07064b50;
constexpr std::uint64_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56, locator64_bytes = 20, longest_comment = 65535;
constexpr std::uint16_t stored = 0, deflated = 8, encrypted_flag = 1, zip64_field = 1;
constexpr std::uint32_t see_zip64 = 0xffffffff;

struct Entry {
    std::string name;
    std::uint64_t header_at = 0, packed_bytes = 0, bytes = 0;
    std::uint32_t checksum = 0;
    std::uint16_t method = stored, flags = 0;
};

struct Directory {
    std::uint64_t at = 0, bytes = 0, entries = 0;
};

[[noreturn]] void refuse(const std::string& why) { throw_damage("it is no whole zip archive: " + why, "was it copied whole?"); }

Directory find_directory(const InputFile& file) {
    const std::uint64_t tail_bytes = std::min(file.size(), end_bytes + longest_comment);
    const std::uint64_t tail_at = file.size() - tail_bytes;
    const Blob tail = file.read(tail_at, tail_bytes);
    if (tail_bytes < end_bytes) refuse("it is too short");
    std::size_t at = tail.size() - end_bytes;
    while (integer_at<std::uint32_t>(tail, at) != end_mark)
        if (at-- == 0) refuse("its table of contents is missing");
    const BlobView end = BlobView(tail).subspan(at);
    Directory found{integer_at<std::uint32_t>(end, 16), integer_at<std::uint32_t>(end, 12), integer_at<std::uint16_t>(end, 10)};
    if (found.at != see_zip64 && found.bytes != see_zip64 && found.entries != 0xffff) return found;
    const std::uint64_t end_at = tail_at + at;
    if (end_at < locator64_bytes) return found;
    const Blob locator = file.read(end_at - locator64_bytes, locator64_bytes);
    if (integer_at<std::uint32_t>(locator, 0) != locator64_mark) return found;
    const Blob end64 = file.read(integer_at<std::uint64_t>(locator, 8), end64_bytes);
    if (integer_at<std::uint32_t>(end64, 0) != end64_mark) refuse("its 64-bit table of contents is missing");
    return {integer_at<std::uint64_t>(end64, 48), integer_at<std::uint64_t>(end64, 40), integer_at<std::uint64_t>(end64, 32)};
}

// Sizes and places that do not fit in 32 bits stand in an extra field, in this order, each only if it is needed.
void read_zip64(Entry& entry, BlobView extra) {
    while (extra.size() >= 4) {
        const auto id = integer_at<std::uint16_t>(extra, 0);
        const std::size_t bytes = integer_at<std::uint16_t>(extra, 2);
        extra = extra.subspan(4);
        if (bytes > extra.size()) refuse("an extra field is cut off");
        BlobView field = extra.first(bytes);
        extra = extra.subspan(bytes);
        if (id != zip64_field) continue;
        for (std::uint64_t* value : {&entry.bytes, &entry.packed_bytes, &entry.header_at})
            if (*value == see_zip64 && field.size() >= 8) {
                *value = integer_at<std::uint64_t>(field, 0);
                field = field.subspan(8);
            }
    }
}

std::vector<Entry> list(const InputFile& file) {
    const Directory directory = find_directory(file);
    const Blob table = file.read(directory.at, directory.bytes);
    std::vector<Entry> entries;
    BlobView rest = table;
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
        if (rest.size() < entry_bytes || integer_at<std::uint32_t>(rest, 0) != entry_mark) refuse("its table of contents is damaged");
        const std::size_t name_bytes = integer_at<std::uint16_t>(rest, 28), extra_bytes = integer_at<std::uint16_t>(rest, 30);
        const std::size_t all_bytes = entry_bytes + name_bytes + extra_bytes + integer_at<std::uint16_t>(rest, 32);
        if (rest.size() < all_bytes) refuse("its table of contents is cut off");
        Entry entry;
        entry.name = text_of(rest.subspan(entry_bytes, name_bytes));
        entry.flags = integer_at<std::uint16_t>(rest, 8);
        entry.method = integer_at<std::uint16_t>(rest, 10);
        entry.checksum = integer_at<std::uint32_t>(rest, 16);
        entry.packed_bytes = integer_at<std::uint32_t>(rest, 20);
        entry.bytes = integer_at<std::uint32_t>(rest, 24);
        entry.header_at = integer_at<std::uint32_t>(rest, 42);
        read_zip64(entry, rest.subspan(entry_bytes + name_bytes, extra_bytes));
        rest = rest.subspan(all_bytes);
        if (names_a_sample(entry.name)) entries.push_back(std::move(entry));
    }
    return entries;
}

// A deflate stream without zlib's header, to exactly so many bytes.
bool inflate_into(BlobView packed, std::span<std::uint8_t> into) {
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    stream.next_in = const_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = into.data();
    stream.avail_out = static_cast<uInt>(into.size());
    const int code = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return code == Z_STREAM_END && stream.avail_out == 0;
}

class ZipReader final : public DatasetReader {
public:
    explicit ZipReader(const fs::path& path) : path_(path.string()), file_(path), entries_(list(file_)) {
        std::vector<std::string> names;
        for (const Entry& e : entries_) names.push_back(e.name);
        labels_ = labels_of(names);
    }

    [[nodiscard]] std::int64_t count() const override { return static_cast<std::int64_t>(entries_.size()); }
    [[nodiscard]] std::string name(std::int64_t index) const override {
        return path_ + ": " + entries_[static_cast<std::size_t>(index)].name;
    }

private:
    void read_sample(std::int64_t index, Sample& into) const override {
        const Entry& entry = entries_[static_cast<std::size_t>(index)];
        if ((entry.flags & encrypted_flag) != 0) throw_damage("it is encrypted");
        if (entry.method != stored && entry.method != deflated)
            throw_damage("it is compressed by method " + std::to_string(entry.method), "methods 0 (stored) and 8 (deflate) are read");
        check_sample_size(entry.bytes);
        check_sample_size(entry.packed_bytes);
        // The header before the data has its own lengths of name and extra field. They are rarely longer than this.
        const Blob header = file_.read(entry.header_at, local_bytes);
        if (integer_at<std::uint32_t>(header, 0) != local_mark) throw_damage("its header is missing");
        const std::uint64_t at =
            entry.header_at + local_bytes + integer_at<std::uint16_t>(header, 26) + integer_at<std::uint16_t>(header, 28);
        into.bytes.resize(entry.bytes);
        into.extents.clear();
        into.label = labels_[static_cast<std::size_t>(index)];
        if (entry.method == deflated) {
            if (!inflate_into(file_.read(at, entry.packed_bytes), into.bytes)) throw_damage("it does not unpack to what it was");
        } else if (entry.packed_bytes == entry.bytes) {
            file_.read(at, into.bytes);
        } else {
            throw_damage("it is stored in another size than it has");
        }
        if (crc32_z(0, into.bytes.data(), into.bytes.size()) != entry.checksum) throw_damage("its checksum is wrong");
    }

    std::string path_;
    InputFile file_;
    std::vector<Entry> entries_;
    std::vector<std::int64_t> labels_;
};

}  // namespace

// Each sample a file in one zip archive, stored.
const DatasetFormat& zip_format() {
    static const DatasetFormat format = {
        "zip", false, [](BlobView start) { return text_of(start).starts_with("PK\x03\x04"); },
        [](const fs::path& path) -> std::unique_ptr<DatasetReader> { return std::make_unique<ZipReader>(path); },
        [](const fs::path& path, const Outline& outline) { return make_archive_writer(ArchiveKind::zip, path, outline); }};
    return format;
}

}  // namespace sextant
