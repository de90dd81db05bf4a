#pragma once

#include <filesystem>

namespace sextant {

// Waits until the disk has all that was written to a file, or, for a folder, to its filesystem. Throws BackendError.
void bring_to_disk(const std::filesystem::path&);

}  // namespace sextant
