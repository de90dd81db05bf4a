// Which operators the plan recomputes before their backward, and what it therefore need not keep.
#pragma once

#include "model/plan/framework.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/operator_graph.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant {

// The parts of a layer that a plan may name to be recomputed.
std::span<const std::string_view> recompute_modules();

// Whether the plan recomputes this operator.
bool is_recomputed(const Operator&, const Plan&);

// By operator of a block, whether the framework recomputes it. Most recompute all that the plan says, some only what backward reads.
std::vector<bool> recomputed_operators(const OperatorGraph&, const Plan&, const Framework&);

// By tensor of a block, whether selective recompute drops it after forward. Blocks that are recomputed as a whole, of which only the
// input is kept, are not meant here.
std::vector<bool> dropped_tensors(const OperatorGraph&, const Plan&);

}  // namespace sextant
