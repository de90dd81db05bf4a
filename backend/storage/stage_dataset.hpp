// A dataset brought to storage nearby before it is read, and taken away afterwards.
#pragma once

#include "backend/storage/staging_folder.hpp"
#include "model/base/quantity.hpp"

#include <filesystem>
#include <optional>

namespace sextant {

enum class StageMode {
    copy,   // as it is
    untar,  // a tar archive, and each of its samples as a file beside it
};

class StagedDataset {
public:
    // Throws InputError where it does not fit or cannot be unpacked, BackendError where the disk refuses: nothing is left behind then.
    StagedDataset(const std::filesystem::path& dataset, const std::filesystem::path& folder, StageMode);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // to read it from
    [[nodiscard]] Seconds copying() const { return copy_; }
    [[nodiscard]] Seconds unpacking() const { return unpack_; }
    Seconds remove();  // how long that took

private:
    void bring(const std::filesystem::path& dataset, const std::filesystem::path& folder, StageMode);

    std::optional<StagingFolder> folder_;
    std::filesystem::path path_;
    Seconds copy_, unpack_;
};

}  // namespace sextant
