// The simulated step of a session.
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

// Simulates a session that has an answer, at its what-if. The listener gets progress and can stop it, as in simulate(), which throws
// Stopped then. For worker threads.
Simulated simulated(const Session&, const PlayListener& = {});

}  // namespace sextant::gui
