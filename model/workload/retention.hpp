// How long each value of a block is kept: from forward to backward, or only until its last reader.
#pragma once

#include "model/workload/operator_graph.hpp"

#include <vector>

namespace sextant {

// An operator that runs again in backward, and the values of which nobody needs more behind it.
struct RunAgain {
    std::size_t operator_index = 0;
    std::vector<TensorId> releases{};
};

// Where backward needs a value that was not kept, it runs the operator that computed it again. This covers every kind of recompute, and
// exchanges that gather again.
struct Retention {
    // By tensor.
    std::vector<bool> kept;                  // from forward to backward
    std::vector<std::size_t> last_forward;   // the last operator of forward that needs it
    std::vector<std::size_t> last_backward;  // the last of backward, which runs from the last operator to the first
    // By operator: what runs again before its backward, in order.
    std::vector<std::vector<RunAgain>> again;
};

// `dropped`: by tensor, whether it is not kept although backward reads it. `differentiated`: by operator, whether its backward runs at all.
Retention plan_retention(const OperatorGraph&, const std::vector<bool>& dropped, const std::vector<bool>& differentiated);

// Whether the gradient of each input is that of the output.
bool hands_gradient_through(const OperatorGraph&, const Operator&);

// The operator that makes each tensor; the number of operators for those that arrive.
std::vector<std::size_t> makers_of(const OperatorGraph&);

}  // namespace sextant
