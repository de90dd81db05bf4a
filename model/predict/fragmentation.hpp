// What an allocator reserves of memory that comes and goes, and does not use. Where the device has no room for that, the allocator gives it
// back.
#pragma once

#include "model/base/quantity.hpp"
#include "model/plan/framework.hpp"

namespace sextant {

// Of what an allocator would leave unused beside so much that is needed, what it does leave.
inline Bytes left_unused(Bytes unused, Bytes needed, Bytes device) { return min(unused, max(device - needed, Bytes{})); }

// `held`: what is there from beginning to end.
Bytes fragmentation(const Framework&, Bytes in_flight, Bytes held, Bytes device);

}  // namespace sextant
