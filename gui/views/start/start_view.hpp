// The start page: scenarios that were open last, and those that come with the program.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo start_view();

}  // namespace sextant::gui
