// What an allocator reserves of memory that comes and goes, and does not use. Where the device has no room for that, the allocator gives it
// back, as far as that is enough.
#pragma once

#include "model/base/quantity.hpp"
#include "model/plan/framework.hpp"

namespace sextant {

// `held`: what is there from beginning to end.
Bytes fragmentation(const Framework&, Bytes passing, Bytes held, Bytes device);

}  // namespace sextant
