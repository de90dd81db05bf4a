// Files appear whole or not at all: written aside, then renamed over what was there.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace sextant {

// `write` is given the path beside `path` to write to. Throws BackendError when the disk refuses; what was at `path` is then still there.
void replace_file(const std::filesystem::path& path, const std::function<void(const std::filesystem::path& aside)>& write);
void replace_text_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

}  // namespace sextant
