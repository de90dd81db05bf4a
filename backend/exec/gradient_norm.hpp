// The norm of the gradients of all parameters.
#pragma once

#include "backend/exec/tensor_parts.hpp"

namespace sextant {

// The sum of the squares of the gradients that this rank updates with, over those parts that count (TensorPart::counts).
double squares_of_gradients(ComputeDevice&, std::span<const TensorPart>);

}  // namespace sextant
