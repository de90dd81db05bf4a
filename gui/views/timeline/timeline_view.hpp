// Timelines of the simulated step, and of a measured one beside it.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo timeline_view();

}  // namespace sextant::gui
