// A folder for temporary files, which is removed at the end, even when the process is interrupted. Where the process is killed, the next
// one that makes such a folder in the same place removes it.
#pragma once

#include "cli/held_signals.hpp"

#include <filesystem>

namespace sextant {

// TMPDIR, or /tmp. Throws BackendError where that is no folder.
std::filesystem::path temporary_folder();

class ScratchFolder {
public:
    // Throws BackendError when the folder cannot be made.
    explicit ScratchFolder(const std::filesystem::path& in = temporary_folder());
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    HeldSignals held_;  // they end the process only after the folder is removed
    std::filesystem::path path_;
    int owner_ = -1;  // the file of the folder that is locked as long as the process lives
};

}  // namespace sextant
