// One file per sample, in a folder per class.
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/sample_names.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class FilesReader final : public DatasetReader {
public:
    explicit FilesReader(fs::path root) : root_(std::move(root)) {
        try {
            visit_below(root_, [&](const fs::directory_entry& e) {
                if (names_a_sample(e.path().native())) paths_.push_back(e.path().lexically_relative(root_).native());
            });
        } catch (const fs::filesystem_error& e) {
            throw_damage("its folders cannot be listed: " + e.code().message());
        }
        std::ranges::sort(paths_, comes_before);
        labels_ = labels_of(paths_);
    }

    [[nodiscard]] std::int64_t count() const override { return static_cast<std::int64_t>(paths_.size()); }
    [[nodiscard]] std::string name(std::int64_t index) const override { return (root_ / paths_[static_cast<std::size_t>(index)]).string(); }

private:
    void read_sample(std::int64_t index, Sample& into) const override {
        const InputFile file(root_ / paths_[static_cast<std::size_t>(index)]);
        check_sample_size(file.size());
        into.bytes.resize(file.size());
        file.read(0, into.bytes);
        into.extents.clear();
        into.label = labels_[static_cast<std::size_t>(index)];
    }

    fs::path root_;
    std::vector<std::string> paths_;
    std::vector<std::int64_t> labels_;
};

class FilesWriter final : public DatasetWriter {
public:
    FilesWriter(fs::path root, SampleEncoding encoding) : root_(std::move(root)), suffix_(suffix_of(encoding)) { make_folder(root_); }

    void append(const Sample& sample) override {
        if (folders_.insert(sample.label).second) make_folder(root_ / class_folder(sample.label));
        write_file(root_ / sample_name(count_++, sample.label, suffix_), as_file(sample));
    }
    void finish() override {}

private:
    static void make_folder(const fs::path& folder) {
        std::error_code error;
        fs::create_directory(folder, error);
        if (error) throw BackendError("cannot make the folder " + folder.string() + ": " + error.message());
    }
    static void write_file(const fs::path& path, BlobView bytes) {
        Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        const auto refuse = [&] { throw BackendError("cannot write all of " + path.string() + ": " + std::strerror(errno)); };
        if (file.number() < 0) refuse();
        write_all(file, bytes, path);
        if (::close(file.release()) != 0) refuse();
    }

    fs::path root_;
    std::string_view suffix_;
    std::set<std::int64_t> folders_;
    std::int64_t count_ = 0;
};

}  // namespace

// Each sample a file, each class a folder.
const DatasetFormat& files_format() {
    static const DatasetFormat format = {
        "files", false, [](BlobView) { return false; },
        [](const fs::path& path) -> std::unique_ptr<DatasetReader> { return std::make_unique<FilesReader>(path); },
        [](const fs::path& path, const Outline& outline) -> std::unique_ptr<DatasetWriter> {
            return std::make_unique<FilesWriter>(path, outline.encoding);
        }};
    return format;
}

}  // namespace sextant
