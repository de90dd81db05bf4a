// The gradients of a stage's trained parameters, in each form in which they stand in a device's memory. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

Bytes gradient_memory(const Prepared::State&, std::size_t stage, const ParameterCount& trained);
// The copies of them that the update makes, when nothing is in flight any more.
Bytes gradient_copies_of_update(const Prepared::State&, std::size_t stage);
// The part of it that autograd is handed in the place of gradients that products have added up themselves: one tensor for each shape of
// weight.
Bytes gradient_placeholders(const Prepared::State&, std::size_t stage);

}  // namespace sextant
