// What fills the memory of each stage, and how much larger the micro-batch may be.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo memory_view();

}  // namespace sextant::gui
