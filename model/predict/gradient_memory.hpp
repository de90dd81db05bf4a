// The gradients of a stage's trained parameters, in each form in which they stand in a device's memory. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

Bytes gradient_memory(const Prepared::State&, std::size_t stage, const ParameterCount& trained);

}  // namespace sextant
