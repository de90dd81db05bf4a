// A published run as a scenario's document, so that it can be edited and saved.
#pragma once

#include "model/io/scenario/scenario_document.hpp"
#include "model/plan/scenario.hpp"

#include <filesystem>

namespace sextant {

// Read back, it is the run, its workload and its cluster written out in place. Where the plan fills the cluster, `dp` is left out, so that
// it follows from the devices as other degrees change. `described`: the run's framework without the habits of this one run, which are
// written over it.
ScenarioDocument published_document(const Scenario& published, const Framework& described, const std::filesystem::path& name);

}  // namespace sextant
