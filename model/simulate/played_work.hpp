// How much there is to play in a step, before it is played.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/task_graph.hpp"

namespace sextant {

// Counted in pieces of work, of which some five million are played in a second. A way between a worker and a server is laid on the links as
// fast. A transfer on one of them changes what all others get: they are looked at again, each with its links, a hundred and more in the
// time of a piece.
double played_work(const TaskGraph&, const CostTable&);

}  // namespace sextant
