// Reads the length of a run, what it costs and how often it fails. Internal to reading scenarios.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/plan/scenario.hpp"

namespace sextant {

void read_run(const JsonNode&, const Workload&, Run&);

}  // namespace sextant
