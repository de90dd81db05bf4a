// Sizes of a network that are free to be a little larger, rounded up so that matrix units load whole rows.
#pragma once

#include "model/workload/workload.hpp"

#include <optional>

namespace sextant {

// Rounds up to the next multiple: of a transformer the vocabulary, the width, and the widths of MLPs and experts; of an MLP its hidden
// layers, since the data fix its input and output. None where all are multiples already, and for other networks.
std::optional<Workload> padded(const Workload&, std::int64_t multiple);

}  // namespace sextant
