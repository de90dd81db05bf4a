// The answer in one page: how fast, does it fit, what holds it back, what would help, how far to trust it.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo summary_view();

}  // namespace sextant::gui
