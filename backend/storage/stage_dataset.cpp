#include "backend/storage/stage_dataset.hpp"

#include "backend/storage/clock.hpp"
#include "backend/storage/file.hpp"
#include "backend/storage/formats.hpp"
#include "backend/storage/make_dataset.hpp"
#include "backend/storage/storage_kind.hpp"
#include "model/base/diagnostics.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t block = 1U << 20U;

void bring_file(const fs::path& from, const fs::path& to) {
    naming([&] { return from.string(); },
           [&] {
               const InputFile in(from);
               OutputFile out(to);
               for (std::uint64_t at = 0; at < in.size(); at += block) out.write(in.read(at, std::min(block, in.size() - at)));
               out.finish();
           });
}

// Asks once what a folder holds and opens each file once: std::filesystem::copy asks for every file several times, each time a round trip
// where the filesystem is another host's.
void bring_all(const fs::path& from, const fs::path& to) {
    if (!fs::is_directory(from)) return bring_file(from, to);
    fs::create_directory(to);
    visit_below(from, [&](const fs::directory_entry& e) {
        const fs::path there = to / e.path().lexically_relative(from);
        if (e.is_directory())
            fs::create_directory(there);
        else
            bring_file(e.path(), there);
    });
}

Bytes size_at(const fs::path& path) {
    if (!fs::is_directory(path)) return static_cast<double>(fs::file_size(path)) * units::B;
    Bytes sum;
    visit_below(path, [&](const fs::directory_entry& e) {
        if (e.is_regular_file()) sum += static_cast<double>(e.file_size()) * units::B;
    });
    return sum;
}

}  // namespace

StagedDataset::StagedDataset(const fs::path& dataset, const fs::path& folder, StageMode mode) {
    try {
        bring(dataset, folder, mode);
    } catch (const fs::filesystem_error& e) {
        throw BackendError(std::string("staging: ") + e.what());
    }
}

void StagedDataset::bring(const fs::path& dataset, const fs::path& folder, StageMode mode) {
    if (!fs::exists(dataset)) throw InputError(Diagnostic{dataset.string(), "", "it is not there", {}});
    if (!fs::is_directory(folder)) throw InputError(Diagnostic{folder.string(), "", "it is no directory to stage to", {}});
    if (mode == StageMode::untar && format_at(dataset).name != std::string_view("tar"))
        throw InputError(Diagnostic{dataset.string(), "", "it is no tar archive that could be unpacked", "--stage-mode copy"});
    folder_.emplace(folder);
    check_room(folder, (mode == StageMode::untar ? 2 : 1) * size_at(dataset), "train on it where it is, without --stage");
    const Seconds start = now();
    path_ = folder_->path() / whole_path(dataset).filename();
    bring_all(dataset, path_);
    copy_ = now() - start;
    if (mode != StageMode::untar) return;
    ConvertSettings files;
    files.in = path_;
    path_ += ".files";
    files.out = path_;
    convert_dataset(files, [](std::int64_t, std::int64_t) {});
    unpack_ = now() - start - copy_;
}

Seconds StagedDataset::remove() {
    const Seconds start = now();
    folder_.reset();
    return now() - start;
}

}  // namespace sextant
