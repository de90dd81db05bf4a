// Sizes of a network that are free to be a little larger, rounded up so that matrix units load whole rows.
#pragma once

#include "model/workload/workload.hpp"

#include <optional>

namespace sextant {

// Vocabulary, width and widths of MLPs and experts of a transformer, hidden layers of an MLP, each up to the next multiple; what goes in
// and comes out of an MLP, the data say. None where all are multiples already, and of other networks.
std::optional<Workload> padded(const Workload&, std::int64_t multiple);

}  // namespace sextant
