// The step, played event by event.
#pragma once

#include "gui/models/session.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "gui/models/topology/cluster_map.hpp"

#include <memory>
#include <vector>

namespace sextant::gui {

struct Simulated {
    std::shared_ptr<const SimulationReport> report{};  // null where the step cannot be played
    std::vector<Diagnostic> problems{};                // why not
    Timeline timeline{};
    std::shared_ptr<const ClusterMap> map{};
    std::vector<std::vector<Bytes>> memory{};  // by stage, of what comes and goes: the most in each of equal intervals of the step
};

// Of a session with an answer, at its what-if. Progress is listened to as in simulate(), and Stopped is thrown as there. For worker
// threads.
Simulated simulated(const Session&, const PlayListener& = {});

}  // namespace sextant::gui
