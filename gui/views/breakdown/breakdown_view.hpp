// Where each millisecond goes, the formula behind each part, and what would move it.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo breakdown_view();

}  // namespace sextant::gui
