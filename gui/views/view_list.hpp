// All views. This is the only place that knows more than one of them.
#pragma once

#include "gui/views/view.hpp"

#include <string_view>
#include <vector>

namespace sextant::gui {

const std::vector<ViewInfo>& all_views();
const ViewInfo* find_view(std::string_view name);  // null when there is none of this name

}  // namespace sextant::gui
