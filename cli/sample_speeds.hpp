// What a thread of this machine does with samples, measured by the program for datasets.
#pragma once

#include "model/sextant.hpp"

#include <string>

namespace sextant {

// Nothing where that program was not built. `source`: of the numbers. Throws BackendError where it fails.
SampleSpeeds measured_sample_speeds(const std::string& source);

}  // namespace sextant
