// What a calibration found, for people.
#pragma once

#include "model/calibrate/calibration.hpp"

#include <string>

namespace sextant {

// Parameters before and after, with how sure they are; then every term of every probe, measured and as the profile predicts it.
std::string calibration_to_text(const Calibration&);

}  // namespace sextant
