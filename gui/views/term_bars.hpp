// The terms of a step as a stacked bar, as more than one view shows them.
#pragma once

#include "gui/models/session.hpp"
#include "gui/views/paint/stacked_bars.hpp"

namespace sextant::gui {

BarRow row_of(const Terms&, const QString& label);
// The rank that finishes last, and where it is another, one of the stage that the others wait for.
std::shared_ptr<StackedBars> term_bars(const Estimate&);

}  // namespace sextant::gui
