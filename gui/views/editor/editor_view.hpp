// The scenario as fields: what the document states, what follows from it, and what is wrong with it. With sliders for "what if".
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo editor_view();

}  // namespace sextant::gui
