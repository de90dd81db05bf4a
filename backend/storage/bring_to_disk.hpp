#pragma once

#include <filesystem>

namespace sextant {

// Waits until the disk has what the system holds of a file; of a folder, what it holds of the filesystem. Throws BackendError.
void bring_to_disk(const std::filesystem::path&);

}  // namespace sextant
