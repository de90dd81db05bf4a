// Files in a tar archive. It has no table of contents: who wants a sample by number must first go from header to header (libarchive does).
#include "backend/storage/archive_writer.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/sample_names.hpp"

#include <archive.h>
#include <archive_entry.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block = 512;  // of tar: as little as a header is read, and what lies between is skipped

struct Entry {
    std::uint64_t at = 0, bytes = 0;
};

class TarReader final : public DatasetReader {
public:
    explicit TarReader(const fs::path& path) : path_(path.string()), file_(path) {
        list();
        labels_ = labels_of(names_);
    }

    [[nodiscard]] std::int64_t count() const override { return static_cast<std::int64_t>(names_.size()); }
    [[nodiscard]] std::string name(std::int64_t index) const override { return path_ + ": " + names_[static_cast<std::size_t>(index)]; }

private:
    void list() {
        const std::unique_ptr<archive, decltype(&archive_read_free)> tar(archive_read_new(), archive_read_free);
        archive_read_support_format_tar(tar.get());
        const auto refuse = [&] {
            const char* why = archive_error_string(tar.get());
            throw_damage(std::string("it is no whole tar archive: ") + (why != nullptr ? why : "it cannot be read"),
                         "a compressed one is to be unpacked first");
        };
        if (archive_read_open_filename(tar.get(), path_.c_str(), block) != ARCHIVE_OK) refuse();
        for (;;) {
            archive_entry* entry = nullptr;
            const int code = archive_read_next_header(tar.get(), &entry);
            if (code == ARCHIVE_EOF) return;
            if (code < ARCHIVE_WARN) refuse();
            const char* name = archive_entry_pathname(entry);
            if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) continue;
            if (!names_a_sample(name) || archive_entry_sparse_count(entry) > 0) continue;
            // The archive is read as it lies, so what was consumed so far is where the file begins.
            names_.emplace_back(name);
            entries_.push_back(
                {static_cast<std::uint64_t>(archive_filter_bytes(tar.get(), 0)), static_cast<std::uint64_t>(archive_entry_size(entry))});
        }
    }

    void read_sample(std::int64_t index, Sample& into) const override {
        const Entry& entry = entries_[static_cast<std::size_t>(index)];
        check_sample_size(entry.bytes);
        into.bytes.resize(entry.bytes);
        file_.read(entry.at, into.bytes);
        into.extents.clear();
        into.label = labels_[static_cast<std::size_t>(index)];
    }

    std::string path_;
    InputFile file_;
    std::vector<std::string> names_;
    std::vector<Entry> entries_;
    std::vector<std::int64_t> labels_;
};

}  // namespace

// Each sample a file in one tar archive.
const DatasetFormat& tar_format() {
    static const DatasetFormat format = {
        "tar", false, [](BlobView start) { return start.size() >= block && text_of(start.subspan(257, 5)) == "ustar"; },
        [](const fs::path& path) -> std::unique_ptr<DatasetReader> { return std::make_unique<TarReader>(path); },
        [](const fs::path& path, const Outline& outline) { return make_archive_writer(ArchiveKind::tar, path, outline); }};
    return format;
}

}  // namespace sextant
