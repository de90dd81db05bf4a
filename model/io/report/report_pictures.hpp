// The pictures of a report, as SVG.
#pragma once

#include "model/graph/trace.hpp"
#include "model/report/report.hpp"
#include "model/report/roofline.hpp"

#include <string>

namespace sextant {

// Where a step goes: one bar, its parts named where there is room.
std::string terms_svg(const Estimate&);

// What each stage holds, against what a device has. Of many stages some, evenly spread.
std::string memory_svg(const Estimate&);

// The kernels of a step under the roofs of the device.
std::string roofline_svg(const Roofline&);

// How busy something is over time, as a strip.
std::string busy_svg(const std::vector<double>& busy);

}  // namespace sextant
