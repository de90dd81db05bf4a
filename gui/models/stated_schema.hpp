// What a file says of itself before it is read.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace sextant::gui {

// Whether this schema stands at the beginning of a JSON file: who writes one says it first.
inline bool states_schema(const std::filesystem::path& path, const std::string& schema) {
    std::string beginning(256, ' ');
    std::ifstream(path).read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    return beginning.find('"' + schema + '"') != std::string::npos;
}

}  // namespace sextant::gui
