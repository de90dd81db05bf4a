// The clock that real work is timed by.
#pragma once

#include "model/base/quantity.hpp"

namespace sextant {

// Since some instant that all processes of a host agree on.
Seconds now();

}  // namespace sextant
