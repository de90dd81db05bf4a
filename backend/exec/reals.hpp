// Copies real numbers of the host into arrays of any precision, and back.
#pragma once

#include "backend/exec/device.hpp"

#include <span>
#include <vector>

namespace sextant {

Array uploaded(ComputeDevice&, std::span<const float>, Element);
std::vector<float> downloaded(ComputeDevice&, const Array&);

}  // namespace sextant
