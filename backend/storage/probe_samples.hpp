// Measures how fast one thread of this host handles samples: decoding, encoding, resizing, conversion to numbers, and the libraries of the
// formats.
#pragma once

#include "backend/storage/make_dataset.hpp"
#include "model/hardware/sample_speeds.hpp"

namespace sextant {

// Writes some megabytes into a folder of its own below `folder`, which should be in memory, and removes them. The time of a library is what
// it takes longer than plain system calls for the same bytes. `source`: the source to state for the numbers. Throws BackendError.
SampleSpeeds probe_samples(const std::filesystem::path& folder, const std::string& source, const SamplesDone& progress);

}  // namespace sextant
