// A dataset brought to storage nearby before it is read, and taken away afterwards.
#pragma once

#include "model/base/quantity.hpp"

#include <filesystem>

namespace sextant {

enum class StageMode {
    copy,   // as it is
    untar,  // a tar archive, and each of its samples as a file beside it
};

class StagedDataset {
public:
    // Throws InputError where it does not fit or cannot be unpacked, BackendError where the disk refuses: nothing is left behind then.
    StagedDataset(const std::filesystem::path& dataset, const std::filesystem::path& folder, StageMode);
    StagedDataset(StagedDataset&&) = default;
    StagedDataset& operator=(StagedDataset&&) = delete;
    ~StagedDataset();

    [[nodiscard]] Seconds copying() const { return copy_; }
    [[nodiscard]] Seconds unpacking() const { return unpack_; }
    Seconds remove();  // how long that took

private:
    void bring(const std::filesystem::path& dataset, const std::filesystem::path& folder, StageMode);

    std::filesystem::path copied_, unpacked_;
    Seconds copy_, unpack_;
};

// Where it will be.
std::filesystem::path staged_path(const std::filesystem::path& dataset, const std::filesystem::path& folder, StageMode);

}  // namespace sextant
