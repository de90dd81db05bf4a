// Which operators the plan runs again before their backward, and what it therefore need not keep.
#pragma once

#include "model/plan/framework.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/operator_graph.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sextant {

// What a plan may name to be run again: parts of a layer.
std::span<const std::string_view> recompute_modules();

// Whether the plan runs this operator's forward again.
bool is_recomputed(const Operator&, const Plan&);

// By operator of a block, whether its forward runs again. Most frameworks run everything again that the plan says.
std::vector<bool> run_again(const OperatorGraph&, const Plan&, const Framework&);

// By tensor of a block, whether selective recompute drops it after forward. Blocks that are recomputed as a whole, of which only the
// input is kept, are not meant here.
std::vector<bool> dropped_tensors(const OperatorGraph&, const Plan&);

}  // namespace sextant
