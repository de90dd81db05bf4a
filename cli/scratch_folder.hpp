// A folder for files of passage, gone with its owner.
#pragma once

#include <filesystem>

namespace sextant {

class ScratchFolder {
public:
    // Throws BackendError when there is no room for files.
    explicit ScratchFolder(const std::filesystem::path& in = std::filesystem::temp_directory_path());
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace sextant
