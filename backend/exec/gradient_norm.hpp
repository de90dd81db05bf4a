// How long the gradients of all parameters are.
#pragma once

#include "backend/exec/tensor_parts.hpp"

namespace sextant {

// Of the gradients that the rank updates with, summed over their parts that count.
double squares_of_gradients(ComputeDevice&, std::span<const TensorPart>);

}  // namespace sextant
