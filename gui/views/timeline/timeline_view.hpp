// Who does what when: the step played event by event, and beside it one that ran for real.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo timeline_view();

}  // namespace sextant::gui
