// A network that is written out operator by operator, from JSON: the "graph" of a workload. docs/model/written_out.md shows one.
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/workload/workload.hpp"

namespace sextant {

// What is wrong is among the diagnostics; the network is whole where nothing was added to them.
GraphSpec read_graph(const JsonNode&);

}  // namespace sextant
