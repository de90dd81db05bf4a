// How much there is to play in a step, before it is played.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/task_graph.hpp"

namespace sextant {

// Counted in pieces of work, about five million of which are played in a second. Placing a path between a worker and a server on the links
// takes as long as a piece. A transfer on such a path changes the rates of all others, which are recomputed with their links, more than a
// hundred in the time of a piece.
double played_work(const TaskGraph&, const CostTable&);

}  // namespace sextant
