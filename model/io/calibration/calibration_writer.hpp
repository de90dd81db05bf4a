// What a calibration found.
#pragma once

#include "model/calibrate/calibration.hpp"
#include "model/calibrate/cluster_fit.hpp"
#include "model/calibrate/library_fit.hpp"
#include "model/calibrate/training_fit.hpp"

#include <string>

namespace sextant {

// Parameters before and after, with how sure they are; then every term of every probe, measured and as the profile predicts it.
std::string calibration_to_text(const Calibration&);

// What logs and runs say of a cluster: parameters before and after, each with how sure it is, then what was measured and both predictions
// (schema cluster-fit/1).
std::string cluster_fit_to_text(const ClusterFit&);
std::string cluster_fit_to_json(const ClusterFit&);

// What a profile's calibration rests on, as its stamp keeps it: curves over message size, terms measured against predicted.
std::string calibration_svg(const Cluster&);
// One file that needs no other: the pictures, the numbers before and after, every term.
std::string calibration_html(const Cluster&);
std::string stamp_to_text(const Cluster&);

// What published runs say of devices and frameworks: for people, and for scripts/fit (schema training-fit/1).
std::string training_fit_to_text(const TrainingFit&);
std::string training_fit_to_json(const TrainingFit&);
// The same of libraries (schema library-fit/1).
std::string library_fit_to_text(const LibraryFit&);
std::string library_fit_to_json(const LibraryFit&);

}  // namespace sextant
