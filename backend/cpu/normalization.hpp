// Internal to backend/cpu: normalizations of rows (layer, RMS) apart from those of images (batch, group).
#pragma once

#include "backend/cpu/operators.hpp"

namespace sextant::cpu {

void forward_row_norm(Engine&, const Normalization&, const OperatorCall&);
void backward_row_norm(Engine&, const Normalization&, const OperatorCall&);

}  // namespace sextant::cpu
