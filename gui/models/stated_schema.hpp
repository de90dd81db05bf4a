// What a file says of itself before it is read.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace sextant::gui {

// Whether this word stands in quotes in the first so many bytes of a file.
inline bool begins_with(const std::filesystem::path& path, std::size_t bytes, const std::string& word) {
    std::string beginning(bytes, ' ');
    std::ifstream(path).read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    return beginning.find('"' + word + '"') != std::string::npos;
}

// Whether this schema stands at the beginning of a JSON file: who writes one says it first.
inline bool states_schema(const std::filesystem::path& path, const std::string& schema) { return begins_with(path, 256, schema); }

// Whether it describes a model and nothing else: a workload, or the config.json of a Hugging Face model, which states no schema.
inline bool holds_model(const std::filesystem::path& path) {
    constexpr std::size_t longest_config = 65536;
    return states_schema(path, "workload/1") ||
           (path.extension() == ".json" && !states_schema(path, "schema") && begins_with(path, longest_config, "model_type"));
}

}  // namespace sextant::gui
