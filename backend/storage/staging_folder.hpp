// A folder for the files that a job stages, separate from those of other jobs.
#pragma once

#include "backend/storage/file.hpp"

#include <filesystem>

namespace sextant {

// The folder is removed at the end of its owner, however that ends: a separate process, which outlives the job, removes what the owner did
// not. Where a scheduler has killed that process too, the next staging folder that the same host makes beside it removes it.
class StagingFolder {
public:
    // Throws BackendError where the folder cannot be made.
    explicit StagingFolder(const std::filesystem::path& in);
    StagingFolder(const StagingFolder&) = delete;
    StagingFolder& operator=(const StagingFolder&) = delete;
    ~StagingFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    void start_remover();

    std::filesystem::path path_;
    Descriptor lock_;   // of the folder itself, for as long as this process lives
    Descriptor alive_;  // the remover waits for its end
    int remover_ = 0;   // its process
};

}  // namespace sextant
