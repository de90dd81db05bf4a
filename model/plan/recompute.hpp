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

// Does the plan run this operator's forward again?
bool is_recomputed(const Operator&, const Plan&);

// For each operator of a block: does its forward run again? Most frameworks run all of it that the plan says.
std::vector<char> run_again(const OperatorGraph&, const Plan&, const Framework&);

// For each tensor of a block: does selective recompute drop it after forward? Not 0: yes. Blocks that are recomputed as a whole keep
// their inputs alone, which is not asked here.
std::vector<char> dropped_tensors(const OperatorGraph&, const Plan&);

}  // namespace sextant
