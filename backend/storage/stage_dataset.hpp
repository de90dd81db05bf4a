// Copies a dataset to nearby storage before it is read, and removes it afterwards.
#pragma once

#include "backend/storage/staging_folder.hpp"
#include "model/base/quantity.hpp"

#include <filesystem>
#include <optional>

namespace sextant {

enum class StageMode {
    copy,   // copies the dataset as it is
    untar,  // copies a tar archive and unpacks it, each sample to a file
};

class StagedDataset {
public:
    // Throws InputError where the dataset does not fit or cannot be unpacked, BackendError where the disk refuses. Nothing is left behind
    // then.
    StagedDataset(const std::filesystem::path& dataset, const std::filesystem::path& folder, StageMode);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }  // to read it from
    [[nodiscard]] Seconds copying() const { return copy_; }
    [[nodiscard]] Seconds unpacking() const { return unpack_; }
    Seconds remove();  // returns how long that took

private:
    void bring(const std::filesystem::path& dataset, const std::filesystem::path& folder, StageMode);

    std::optional<StagingFolder> folder_;
    std::filesystem::path path_;
    Seconds copy_, unpack_;
};

}  // namespace sextant
