// Output files of long work. Before the work it is checked that the file can be written; afterwards the user is told where it is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Throws BackendError where the file cannot be written. An empty path is accepted: no file is wanted.
void check_writable(const std::filesystem::path& file);

// Throws InputError where two of these paths of input files lead to the same file, which would count twice.
void check_named_once(const std::vector<std::filesystem::path>&);

// check_writable() for a picture. Throws InputError where the suffix is that of another format than SVG.
void check_picture(const std::filesystem::path& file);

// What the user is told about a profile that was written. `field`: the field of a scenario that takes it.
std::string written_line(const std::filesystem::path& profile, std::string_view field);

}  // namespace sextant
