// Runs the plan for real, and shows the run beside the prediction.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo run_view();

}  // namespace sextant::gui
