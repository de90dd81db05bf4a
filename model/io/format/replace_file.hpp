// Files appear whole or not at all: written aside, then renamed over what was there.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string_view>
#include <vector>

namespace sextant {

// Several that belong together: all of them are written aside before the first takes its place.
class ReplacedFiles {
public:
    ReplacedFiles() = default;
    ReplacedFiles(const ReplacedFiles&) = delete;
    ReplacedFiles& operator=(const ReplacedFiles&) = delete;
    // Removes what is written and not in its place.
    ~ReplacedFiles();

    // All throw BackendError when the disk refuses; what was at the path is still there until the last.
    void write(const std::filesystem::path&, const std::function<void(const std::filesystem::path& aside)>& write);
    void write_text(const std::filesystem::path&, const std::function<void(std::ostream&)>& write);
    void put_in_place();

private:
    std::vector<std::filesystem::path> waiting_;
};

// One file. `write` is given the path beside `path` to write to. Throws BackendError when the disk refuses; what was at `path` is then
// still there.
void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path& aside)>& write);
void replace_text_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void replace_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace sextant
