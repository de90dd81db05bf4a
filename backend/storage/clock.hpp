// The clock by which real work is timed.
#pragma once

#include "model/base/quantity.hpp"

#include <chrono>

namespace sextant {

// Counts from an instant that is the same for all processes of a host.
Seconds now();

// For the waits of the standard library.
inline std::chrono::duration<double> to_chrono(Seconds t) { return std::chrono::duration<double>(t / units::s); }

}  // namespace sextant
