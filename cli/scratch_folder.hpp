// A folder for temporary files. It is removed with its owner, also when that is interrupted.
#pragma once

#include "cli/held_signals.hpp"

#include <filesystem>

namespace sextant {

// What TMPDIR says, or /tmp. Throws BackendError where that is no folder.
std::filesystem::path temporary_folder();

class ScratchFolder {
public:
    // Throws BackendError when there is no room for files.
    explicit ScratchFolder(const std::filesystem::path& in = temporary_folder());
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    HeldSignals held_;  // that end the process when the folder is gone
    std::filesystem::path path_;
};

}  // namespace sextant
