// Icons as SVG elements in a square of 24, drawn with a pen in the colours of the look.
#pragma once

#include "gui/views/paint/look.hpp"

#include <QIcon>

#include <string_view>

namespace sextant::gui {

// Faint, and in the accent where it is checked.
QIcon icon_of(std::string_view svg_elements, const Look&);
// The program's own.
QIcon program_icon();

}  // namespace sextant::gui
