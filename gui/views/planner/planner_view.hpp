// The best plan for the job: a search over all of them, what it found, and why not the others.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo planner_view();

}  // namespace sextant::gui
