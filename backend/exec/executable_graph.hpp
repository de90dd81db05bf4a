// From the operator graph that is priced to the one that runs: the same operators, with the tensors that only execution needs.
//
//   CrossEntropy   reads labels, which networks on images leave out; and writes statistics beside the losses, [rows, 3]: the largest logit,
//                  the sum of exp(logit - largest), the logit of the label, each over the classes that are here. One that the block does
//                  not hand on (multi-token prediction) becomes an output too, behind the others.
//   TokenPermute   to the experts: the router's weights of the rows go where the rows go, through exchanges and sorting, to the activation
//                  that they multiply; and to a bias behind it.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/operator_graph.hpp"

#include <vector>

namespace sextant {

// Inputs of role index, and activations that no block before made, come from the data.
OperatorGraph executable(const OperatorGraph&);

// The loss that a tensor has, as it is or exchanged; null: it is none.
const CrossEntropy* loss_behind(const OperatorGraph&, TensorId);

// Does it put several tensors behind each other, and no more?
bool is_concatenation(const Operator&);

// What of it no device here can run, and why. Empty: all of it runs.
std::vector<Diagnostic> unsupported(const OperatorGraph&);

}  // namespace sextant
