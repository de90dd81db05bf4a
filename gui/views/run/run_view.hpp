// The plan for real, beside what was predicted of it.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo run_view();

}  // namespace sextant::gui
