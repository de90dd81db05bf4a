// The scenario as fields: what the document states, what follows from it, and what is wrong with it; and sliders that ask "what if".
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo editor_view();

}  // namespace sextant::gui
