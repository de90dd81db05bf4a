// The machine that the job uses, and how busy its links are.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo topology_view();

}  // namespace sextant::gui
