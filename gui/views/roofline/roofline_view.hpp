// The operators of the model on the device: how far each is below the roofs of arithmetic and of memory.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo roofline_view();

}  // namespace sextant::gui
