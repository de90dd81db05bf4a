// Memory that an allocator has reserved for tensors that come and go, and that lies unused. Where the device has no room for it, the
// allocator gives it back.
#pragma once

#include "model/predict/estimate.hpp"

namespace sextant {

// How much of `unused` the allocator keeps on a device of this size, beside what is `needed`.
inline Bytes left_unused(Bytes unused, Bytes needed, Bytes device) { return min(unused, max(device - needed, Bytes{})); }

// Of a pipeline stage that has so much in flight at its peak.
Bytes fragmentation(const Prepared&, int stage, Bytes in_flight);

}  // namespace sextant
