// Datasets appear whole or not at all: written beside their place, then put there.
#pragma once

#include <filesystem>
#include <functional>

namespace sextant {

// `write` is given the path beside `path` to write to. What lies at `path` stays there until it came back, and if it throws. Throws
// InputError when that is something else than a dataset: nothing else is ever removed.
void replace_dataset(const std::filesystem::path& path, const std::function<void(const std::filesystem::path& aside)>& write);

}  // namespace sextant
