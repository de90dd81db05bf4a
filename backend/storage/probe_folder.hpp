// A folder of a measurement, which goes with what is in it.
#pragma once

#include <filesystem>

namespace sextant {

class ProbeFolder {
public:
    // Throws InputError where `directory` is none, BackendError where nothing can be written.
    explicit ProbeFolder(const std::filesystem::path& directory);
    ProbeFolder(const ProbeFolder&) = delete;
    ProbeFolder& operator=(const ProbeFolder&) = delete;
    ~ProbeFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace sextant
