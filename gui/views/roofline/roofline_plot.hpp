// Rate over intensity, both in powers of ten: roofs as lines, kernels as points as large as their share of the time.
#pragma once

#include "gui/views/paint/plot.hpp"
#include "gui/views/paint/stacked_bars.hpp"
#include "model/report/roofline.hpp"

namespace sextant::gui {

// The keys of the points are places in kernels. Those without matrix work stand at the left edge, as far below the roof of memory as
// their rate is below its bandwidth.
std::shared_ptr<Chart> roofline_plot(const Roofline&, const Look&);
// The time of all kernels by what bounds them.
std::shared_ptr<Chart> bound_bars(const Roofline&, const Look&);

QString name_of(const RooflineKernel&);  // "attention.qkv, forward"

}  // namespace sextant::gui
