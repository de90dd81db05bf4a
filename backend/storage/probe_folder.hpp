// A folder for a measurement, which is removed with its contents at the end.
#pragma once

#include <filesystem>

namespace sextant {

class ProbeFolder {
public:
    // Throws InputError where `directory` is no directory, BackendError where it cannot be written to.
    explicit ProbeFolder(const std::filesystem::path& directory);
    ProbeFolder(const ProbeFolder&) = delete;
    ProbeFolder& operator=(const ProbeFolder&) = delete;
    ~ProbeFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace sextant
