// What one thread of this host does with samples: decoding, encoding, scaling, making numbers of them, and the libraries of the formats.
#pragma once

#include "backend/storage/make_dataset.hpp"
#include "model/hardware/sample_speeds.hpp"

namespace sextant {

// Writes some megabytes into a folder of its own below `folder`, which had better be in memory, and takes them away. Of libraries counts
// what they take longer than plain calls of the system for the same bytes. `source`: of the numbers. Throws BackendError.
SampleSpeeds probe_samples(const std::filesystem::path& folder, const std::string& source, const SamplesDone& progress);

}  // namespace sextant
