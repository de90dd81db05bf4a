// The step, played event by event. It is of the document alone: what-ifs are left out.
#pragma once

#include "gui/models/session.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "gui/models/topology/cluster_map.hpp"

#include <memory>
#include <vector>

namespace sextant::gui {

struct Simulated {
    std::shared_ptr<const SimulationReport> report;  // null where the step cannot be played
    std::vector<Diagnostic> problems;                // why not
    Timeline timeline;
    std::shared_ptr<const ClusterMap> map;
};

// What of it is listened to as in simulate(), and Stopped is thrown as there. For worker threads.
Simulated simulated(const Answer&, const PlayListener& = {});

}  // namespace sextant::gui
