// Frameworks from JSON ("framework/1"): bundled ones by name or alias, anybody's own by path.
//
// A file states everything: every switch and every number is required, but for the three that not every framework has (bucket,
// bucket_per_rank, reduction_cycle). Each number carries its source, or inherits `kind` and `source` of the file.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/plan/framework.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

Framework read_framework(const JsonNode&);

// The names of the files in `data_root`/frameworks, sorted.
std::vector<std::string> framework_names(const std::filesystem::path& data_root);

// The framework of that name, else the one that lists it among its aliases (found by reading the bundled files, which are small), whatever
// its capitals, blanks and hyphens; a text that ends in ".json" is a path. An unknown name is complained about at `node`, or without a
// place. What differs from a framework may be laid over it: {"base": "pytorch-ddp", "bucket": "0 B"}.
Framework load_framework(const JsonNode& node, const std::filesystem::path& data_root);
Framework load_framework(std::string_view name_or_path, const std::filesystem::path& data_root, Diagnostics&);

}  // namespace sextant
