// A network that is written out operator by operator, as JSON that read_graph reads.
#pragma once

#include "model/workload/workload.hpp"

#include <nlohmann/json_fwd.hpp>

namespace sextant {

// Names of tensors, which need not differ in a graph, are made to.
nlohmann::ordered_json json_of(const GraphSpec&);

}  // namespace sextant
