// What more devices bring: throughput, efficiency and cost at each of several sizes, and where they stop paying.
#pragma once

#include "gui/views/view.hpp"

namespace sextant::gui {

ViewInfo scaling_view();

}  // namespace sextant::gui
