// Recognizes files by their beginning, before they are read.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace sextant::gui {

// Whether the first `bytes` bytes of a file contain this word in quotes.
inline bool begins_with(const std::filesystem::path& path, std::size_t bytes, const std::string& word) {
    std::string beginning(bytes, ' ');
    std::ifstream(path).read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    return beginning.find('"' + word + '"') != std::string::npos;
}

// Whether a JSON file states this schema at its beginning, where it is by convention.
inline bool states_schema(const std::filesystem::path& path, const std::string& schema) { return begins_with(path, 256, schema); }

// Whether a file describes only a model: a workload, or the config.json of a Hugging Face model, which states no schema.
inline bool holds_model(const std::filesystem::path& path) {
    constexpr std::size_t longest_config = 65536;
    return states_schema(path, "workload/1") ||
           (path.extension() == ".json" && !states_schema(path, "schema") && begins_with(path, longest_config, "model_type"));
}

}  // namespace sextant::gui
