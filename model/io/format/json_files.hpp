// The JSON files of a folder of data.
#pragma once

#include <filesystem>
#include <vector>

namespace sextant {

// Of the folder and those in it, in the order of their paths; none where there is no such folder. Throws BackendError where it is not
// readable.
std::vector<std::filesystem::path> json_files_in(const std::filesystem::path& folder);

}  // namespace sextant
