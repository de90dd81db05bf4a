// Memory that an allocator has reserved for tensors that come and go, and that lies unused. Where the device has no room for it, the
// allocator gives it back.
#pragma once

#include "model/base/quantity.hpp"
#include "model/plan/framework.hpp"

namespace sextant {

// How much of `unused` the allocator keeps on a device of this size, beside what is `needed`.
inline Bytes left_unused(Bytes unused, Bytes needed, Bytes device) { return min(unused, max(device - needed, Bytes{})); }

// `in_flight`: what comes and goes during a step. `held`: what is there from beginning to end.
Bytes fragmentation(const Framework&, Bytes in_flight, Bytes held, Bytes device);

}  // namespace sextant
