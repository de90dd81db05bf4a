// The charts of a calibration, each a document of SVG of its own.
#pragma once

#include "model/hardware/cluster.hpp"

#include <string>
#include <vector>

namespace sextant {

// Where the stamp has curves: time over message size, points as measured, lines as the profile predicts. Where it has other terms: how far
// the profile predicts each from what was measured.
std::vector<std::string> calibration_charts(const Cluster&);

// "measured on host, 2026-11-21, from 24 runs: median error 5 %"
std::string stamp_line(const CalibrationStamp&);

}  // namespace sextant
