// A picture of the window, for documentation: no display, no settings of the user.
#pragma once

#include "gui/command_line.hpp"

namespace sextant::gui {

// The exit code: 0, or 2 after a message on stderr, or 3 when the picture cannot be written.
int take_screenshot(const CommandLine&);

}  // namespace sextant::gui
