// Whether an operator that was written down, rather than built, agrees with the tensors that it reads and makes.
#pragma once

#include "model/workload/operator_graph.hpp"

#include <string>
#include <vector>

namespace sextant {

// With the largest micro-batch no count of elements, or of multiplications for one of them, overflows.
inline constexpr double most_elements = 1e12;

// What contradicts itself, in words; empty where nothing does: tensors of other sizes than the operator has, too few of them, windows that
// do not fit, copies from behind the end. The operator is one of `graph`, of one sample, each of its extents at least 1.
std::vector<std::string> contradictions(const OperatorGraph& graph, const Operator& op);

}  // namespace sextant
