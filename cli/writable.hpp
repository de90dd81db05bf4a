// Whether a file can be written where the user wants it: asked before long work, not after it.
#pragma once

#include <filesystem>

namespace sextant {

// Throws BackendError.
void check_writable(const std::filesystem::path& file);

}  // namespace sextant
