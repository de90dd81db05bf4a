#include "backend/storage/archive_writer.hpp"

#include "backend/storage/sample_names.hpp"
#include "model/base/diagnostics.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <archive.h>
#include <archive_entry.h>

namespace sextant {
namespace {

constexpr int block = 1 << 20;  // of what goes to the file at once; the library's own are of 10 KB

class ArchiveWriter final : public DatasetWriter {
public:
    ArchiveWriter(ArchiveKind kind, std::filesystem::path path, SampleEncoding encoding)
        : path_(std::move(path)),
          suffix_(suffix_of(encoding)),
          archive_(archive_write_new(), archive_write_free),
          entry_(archive_entry_new(), archive_entry_free) {
        check(kind == ArchiveKind::tar ? archive_write_set_format_pax_restricted(archive_.get())
                                       : archive_write_set_format_zip(archive_.get()));
        // Samples that are encoded do not shrink, and others are to be read quickly.
        if (kind == ArchiveKind::zip) check(archive_write_zip_set_compression_store(archive_.get()));
        check(archive_write_set_bytes_per_block(archive_.get(), block));
        check(archive_write_set_bytes_in_last_block(archive_.get(), 1));
        check(archive_write_open_filename(archive_.get(), path_.c_str()));
    }

    void append(const Sample& sample) override {
        const Blob file = as_file(sample);
        archive_entry_clear(entry_.get());
        archive_entry_set_pathname(entry_.get(), sample_name(count_++, sample.label, suffix_).c_str());
        archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(file.size()));
        archive_entry_set_filetype(entry_.get(), AE_IFREG);
        archive_entry_set_perm(entry_.get(), 0644);
        check(archive_write_header(archive_.get(), entry_.get()));
        if (archive_write_data(archive_.get(), file.data(), file.size()) != static_cast<la_ssize_t>(file.size())) check(ARCHIVE_FATAL);
    }
    void finish() override { check(archive_write_close(archive_.get())); }

private:
    void check(int code) {
        if (code >= ARCHIVE_WARN) return;
        const char* why = archive_error_string(archive_.get());
        throw BackendError("cannot write all of " + path_.string() + ": " + (why != nullptr ? why : std::strerror(errno)));
    }

    std::filesystem::path path_;
    std::string_view suffix_;
    std::unique_ptr<archive, decltype(&archive_write_free)> archive_;
    std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry_;
    std::int64_t count_ = 0;
};

}  // namespace

std::unique_ptr<DatasetWriter> make_archive_writer(ArchiveKind kind, const std::filesystem::path& path, const Outline& outline) {
    return std::make_unique<ArchiveWriter>(kind, path, outline.encoding);
}

}  // namespace sextant
