// From the operator graph that is priced to the one that runs: the same operators, with the tensors that only execution needs.
//
//   CrossEntropy   reads labels, which networks on images leave out, and writes statistics beside the losses, [rows, 3]: the largest logit,
//                  the sum of exp(logit - largest) and the logit of the label, each over this rank's classes. A loss that the block does
//                  not hand on (multi-token prediction) becomes one more output, behind the others.
//   TokenPermute   to the experts: the router's weights of the rows follow the rows through exchanges and sorting, to the activation that
//                  they multiply, and to a bias behind it.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/operator_graph.hpp"

#include <vector>

namespace sextant {

// Inputs of role index, and activations that no earlier block computes, come from the data.
OperatorGraph executable(const OperatorGraph&);

// The loss that made this tensor, directly or through an exchange; null where none did.
const CrossEntropy* loss_behind(const OperatorGraph&, TensorId);

// Whether the operator only concatenates tensors.
bool is_concatenation(const Operator&);

// The operators that no engine can run, each with the reason. Empty where all run.
std::vector<Diagnostic> unsupported(const OperatorGraph&);

}  // namespace sextant
