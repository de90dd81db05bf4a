// A published run as a scenario's document, so that `--set` can ask for a variant of it.
#pragma once

#include "model/io/scenario/scenario_document.hpp"
#include "model/plan/scenario.hpp"

#include <filesystem>

namespace sextant {

// Read back, it is the run. Its workload and its cluster stand in no file: the document names both after the run (Scenario::name), and
// whoever reads it has to know them. Where the plan fills the cluster, `dp` is left out, so that it follows from the devices as other
// degrees change.
ScenarioDocument published_document(const Scenario& published, const std::filesystem::path& name);

}  // namespace sextant
