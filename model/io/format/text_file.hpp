// Text files that people name, some of them packed with gzip, as profilers leave them.
#pragma once

#include "model/base/diagnostics.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace sextant {

// The file that another names: beside that one, unless its path is whole. `by`: empty where no file names it.
std::filesystem::path file_beside(const std::filesystem::path& by, const std::filesystem::path& name);

// Whether the path is a regular file that may be read. Adds a Diagnostic where it is not: pipes and character devices have no size and may
// never end.
bool check_regular_file(const std::filesystem::path&, Diagnostics&);

// The text of a regular file of at most 256 MiB; none after a Diagnostic.
std::optional<std::string> read_text_file(const std::filesystem::path&, Diagnostics&);

// The same of one that may be packed: unpacked, at most 4 GiB.
std::optional<std::string> read_packed_text(const std::filesystem::path&, Diagnostics&);
// At most so many bytes from the beginning of the file; none where it cannot be read.
std::string start_of_packed_text(const std::filesystem::path&, std::size_t bytes);

}  // namespace sextant
