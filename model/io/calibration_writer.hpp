// What a calibration found.
#pragma once

#include "model/calibrate/calibration.hpp"
#include "model/calibrate/library_fit.hpp"
#include "model/calibrate/training_fit.hpp"

#include <string>

namespace sextant {

// Parameters before and after, with how sure they are; then every term of every probe, measured and as the profile predicts it.
std::string calibration_to_text(const Calibration&);

// What published runs say of devices and frameworks: for people, and for scripts/fit (schema training-fit/1).
std::string training_fit_to_text(const TrainingFit&);
std::string training_fit_to_json(const TrainingFit&);
// The same of libraries (schema library-fit/1).
std::string library_fit_to_text(const LibraryFit&);
std::string library_fit_to_json(const LibraryFit&);

}  // namespace sextant
