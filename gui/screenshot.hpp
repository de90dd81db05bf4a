// Takes a picture of the window for documentation, without a display and without the user's settings.
#pragma once

#include "gui/command_line.hpp"

namespace sextant::gui {

// Returns the exit code: 0, 2 after a message on stderr, or 3 when the picture cannot be written.
int take_screenshot(const CommandLine&);

}  // namespace sextant::gui
