// Memory of some stages over a step that was played: what is held all the time, by kind, and above it what comes and goes.
#pragma once

#include "gui/models/selection.hpp"
#include "gui/models/simulated.hpp"
#include "gui/views/paint/chart.hpp"

namespace sextant::gui {

// All stages, or where they are many some from the first to the last, and the fullest.
std::vector<std::size_t> stages_to_draw(const SimulationReport&);

// With a range, it is marked, and the most that is told is that within it.
std::shared_ptr<Chart> memory_over_time(const Simulated&, const std::vector<std::size_t>& stages, const std::optional<TimeRange>&);

}  // namespace sextant::gui
