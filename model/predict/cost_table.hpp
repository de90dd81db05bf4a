// The prices of a task graph's works, from the same functions whose results the closed form adds up.
//
// The pieces of a pass over blocks are its kernels and exchanges in the order in which they run; a piece that is only an exchange has no
// device time. Time that calls, copies or the host take without using a shared link counts as device time of the kind it belongs to.
//
// Memory: a forward allocates what its blocks keep for backward (model/predict/stage_memory.cpp), logits included; the backward that makes
// the weight gradients releases it. Under ZeRO-3 a gather allocates whole weights, and the pass that they were gathered for releases them:
// every pass where the framework gathers again for backward, else the backward that makes weight gradients. Weights, gradients, optimizer
// states and buffers are there all the time; stage_memory counts them.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/task_graph.hpp"
#include "model/predict/estimate.hpp"

namespace sextant {

// `graph` was lowered from the scenario that was prepared.
CostTable cost_table(const Prepared& prepared, const TaskGraph& graph);

}  // namespace sextant
