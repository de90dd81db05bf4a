// Writes datasets atomically: beside their place first, then moved there.
#pragma once

#include <filesystem>
#include <functional>

namespace sextant {

// Calls `write` with a path beside `path`. What lies at `path` is replaced when `write` has returned, and stays if it throws. Throws
// InputError when what lies at `path` is not a dataset: nothing else is ever removed.
void replace_dataset(const std::filesystem::path& path, const std::function<void(const std::filesystem::path& aside)>& write);

}  // namespace sextant
