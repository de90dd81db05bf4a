// The device of a scenario: another one, changes to the cluster's, or a part of it.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/io/scenario/scenario_reader.hpp"

namespace sextant {

// What the author of a scenario states about hardware overrides the profile, and says so in the report.
inline const Provenance stated_by_scenario{SourceKind::published, "the scenario"};

void read_device(const JsonNode&, const ScenarioSources&, Device&);

}  // namespace sextant
