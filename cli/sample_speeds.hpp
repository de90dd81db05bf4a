// How fast one thread of this machine decodes and converts samples, measured by sextant-data.
#pragma once

#include "model/sextant.hpp"

#include <string>

namespace sextant {

// Empty where that program was not built. `source`: the source to state for the numbers. Throws BackendError where it fails.
SampleSpeeds measured_sample_speeds(const std::string& source);

}  // namespace sextant
