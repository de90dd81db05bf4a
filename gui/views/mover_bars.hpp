// What would move the step, as more than one view shows it.
#pragma once

#include "gui/views/paint/ranked_bars.hpp"
#include "model/report/report.hpp"

#include <limits>

namespace sextant::gui {

std::shared_ptr<Chart> mover_bars(const Bottleneck&, const Look&, std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace sextant::gui
