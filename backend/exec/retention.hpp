// Which values of a block live how long: from forward to backward, or only until their last reader.
#pragma once

#include "model/workload/operator_graph.hpp"

#include <vector>

namespace sextant {

// By tensor. Backward makes again what it needs and was not kept, by running the operator that made it once more; that covers every kind of
// recompute, and exchanges that gather again.
struct Retention {
    std::vector<bool> kept;                  // from forward to backward
    std::vector<std::size_t> last_forward;   // operator after which forward needs it no more
    std::vector<std::size_t> last_backward;  // the same for backward, which runs from the last operator to the first
};

// `dropped`: by tensor, not to be kept although backward reads it. `differentiated`: by operator, whether its backward runs at all.
Retention plan_retention(const OperatorGraph&, const std::vector<bool>& dropped, const std::vector<bool>& differentiated);

// The operator that makes each tensor; the number of operators for those that arrive.
std::vector<std::size_t> makers_of(const OperatorGraph&);

}  // namespace sextant
