#include "model/io/format/json_files.hpp"

#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <system_error>

namespace sextant {

std::vector<std::filesystem::path> json_files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    const std::filesystem::recursive_directory_iterator entries(folder, error);
    if (error && error != std::errc::no_such_file_or_directory) throw BackendError(folder.string() + ": " + error.message());
    for (const auto& entry : entries)
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

}  // namespace sextant
