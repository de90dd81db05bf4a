#include "gui/views/view_list.hpp"

#include "gui/views/breakdown/breakdown_view.hpp"
#include "gui/views/editor/editor_view.hpp"
#include "gui/views/lessons/lessons_view.hpp"
#include "gui/views/memory/memory_view.hpp"
#include "gui/views/planner/planner_view.hpp"
#include "gui/views/roofline/roofline_view.hpp"
#include "gui/views/run/run_view.hpp"
#include "gui/views/scaling/scaling_view.hpp"
#include "gui/views/start/start_view.hpp"
#include "gui/views/summary/summary_view.hpp"
#include "gui/views/timeline/timeline_view.hpp"
#include "gui/views/topology/topology_view.hpp"
#include "gui/views/validation/validation_view.hpp"

#include <algorithm>

namespace sextant::gui {

const std::vector<ViewInfo>& all_views() {
    static const std::vector<ViewInfo> views = {start_view(),      summary_view(),  breakdown_view(), timeline_view(), topology_view(),
                                                memory_view(),     roofline_view(), planner_view(),   scaling_view(),  run_view(),
                                                validation_view(), lessons_view(),  editor_view()};
    return views;
}

const ViewInfo* find_view(std::string_view name) {
    const auto found = std::ranges::find(all_views(), name, &ViewInfo::name);
    return found == all_views().end() ? nullptr : &*found;
}

}  // namespace sextant::gui
