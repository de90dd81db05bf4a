// Files that belong together: all of them are written aside before the first takes its place (replace_file.hpp).
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <vector>

namespace sextant {

class ReplacedFiles {
public:
    ReplacedFiles() = default;
    ReplacedFiles(const ReplacedFiles&) = delete;
    ReplacedFiles& operator=(const ReplacedFiles&) = delete;
    // Removes what is written and not in its place.
    ~ReplacedFiles();

    // Both throw BackendError when the disk refuses; what was at the path is still there until the second.
    void write_text(const std::filesystem::path&, const std::function<void(std::ostream&)>& write);
    void put_in_place();

private:
    std::vector<std::filesystem::path> waiting_;
};

}  // namespace sextant
