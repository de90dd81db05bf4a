// A folder for what a job stages, apart from those of other jobs beside it.
#pragma once

#include "backend/storage/file.hpp"

#include <filesystem>

namespace sextant {

// Goes with its owner, or, where that is killed, when the next one is made beside it by the same host.
class StagingFolder {
public:
    // Throws BackendError where there cannot be one.
    explicit StagingFolder(const std::filesystem::path& in);
    StagingFolder(const StagingFolder&) = delete;
    StagingFolder& operator=(const StagingFolder&) = delete;
    ~StagingFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    Descriptor lock_;  // of the folder itself, for as long as this process lives
};

}  // namespace sextant
