// Curves over the number of devices. The keys of the points are rows of scaling_table().
#pragma once

#include "gui/models/scaling_findings.hpp"
#include "gui/views/paint/plot.hpp"

namespace sextant::gui {

// Against as many times the throughput as devices.
std::shared_ptr<Chart> throughput_plot(const ScalingFindings&, const Look&);
std::shared_ptr<Chart> efficiency_plot(const ScalingFindings&, const Look&);
// Null where nothing has a price.
std::shared_ptr<Chart> cost_plot(const ScalingFindings&, const Look&);

}  // namespace sextant::gui
