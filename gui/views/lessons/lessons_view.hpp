// A guided tour: the list of lessons, and the steps of one, beside whatever they ask to look at.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo lessons_view();

}  // namespace sextant::gui
