// The file that long work is for. Before the work it is asked whether the file can be written; afterwards the user is told where it is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Throws BackendError. An empty path: no file is asked for.
void check_writable(const std::filesystem::path& file);

// Throws InputError where two of these paths, which an option or the program takes, lead to one file: it would count twice.
void check_named_once(const std::vector<std::filesystem::path>&);

// As check_writable, of a picture. Throws InputError where the name promises another format than SVG.
void check_picture(const std::filesystem::path& file);

// What is said when a profile is there, and which field of a scenario takes it.
std::string written_line(const std::filesystem::path& profile, std::string_view field);

}  // namespace sextant
