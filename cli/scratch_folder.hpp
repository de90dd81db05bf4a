// A folder for files of passage, gone with its owner.
#pragma once

#include <filesystem>

namespace sextant {

class ScratchFolder {
public:
    ScratchFolder();  // throws BackendError when there is no room for temporary files
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace sextant
