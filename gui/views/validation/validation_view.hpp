// Published training runs beside their predictions: to see how far off these are, and to open one as a scenario.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo validation_view();

}  // namespace sextant::gui
