// The file that long work is for: whether it can be written is asked before, and told after where it is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sextant {

// Throws BackendError.
void check_writable(const std::filesystem::path& file);

// What is said when a profile is there, and which field of a scenario takes it.
std::string written_line(const std::filesystem::path& profile, std::string_view field);

}  // namespace sextant
