// The plans of a search as points, throughput against memory or cost, with the Pareto front.
#pragma once

#include "gui/models/plan_findings.hpp"
#include "gui/views/paint/plot.hpp"

namespace sextant::gui {

enum class PlanAxis { memory, cost, devices };

// The keys of the points are places in findings.plans. `open`: which of them the scenario has now.
std::shared_ptr<Chart> plan_plot(const PlanFindings&, std::optional<std::size_t> open, PlanAxis, const Look&);

}  // namespace sextant::gui
