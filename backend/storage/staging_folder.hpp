// A folder for what a job stages, apart from those of other jobs beside it.
#pragma once

#include "backend/storage/file.hpp"

#include <filesystem>

namespace sextant {

// Goes with its owner, however that ends: a process of its own, which outlives the job, removes what the owner did not. Where that was
// killed too (a scheduler may), it goes when the next one is made beside it by the same host.
class StagingFolder {
public:
    // Throws BackendError where there cannot be one.
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
