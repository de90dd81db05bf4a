// The prices of a task graph's works, from the very functions that the closed form adds up.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/task_graph.hpp"
#include "model/predict/estimate.hpp"

namespace sextant {

// `graph` was lowered from the scenario of `job`.
CostTable cost_table(const Prepared& job, const TaskGraph& graph);

}  // namespace sextant
