// The clock by which real work is timed.
#pragma once

#include "model/base/quantity.hpp"

namespace sextant {

// Counts from an instant that is the same for all processes of a host.
Seconds now();

}  // namespace sextant
