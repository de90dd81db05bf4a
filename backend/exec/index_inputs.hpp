// What integers a block reads from the data.
#pragma once

#include "model/workload/operator_graph.hpp"

#include <cstdint>

namespace sextant {

// How many values such an input has: the rows of the table that it chooses from, or the classes of a loss.
std::int64_t values_of_index(const OperatorGraph&, TensorId input);
bool is_label(const OperatorGraph&, TensorId input);

}  // namespace sextant
