// Completes what a profile leaves out, so that a device can be described by name, memory, bandwidth and peaks alone.
#pragma once

#include "model/hardware/device.hpp"
#include "model/hardware/link.hpp"

namespace sextant {

// Fills every field that is still empty from relatives of the device's kind and architecture, marked `estimated` with the reason.
// Needs name, memory, memory_bandwidth and one peak; leaves what is stated as it is.
void complete(Device&);

// The same for a link: needs category and bandwidth.
void complete(LinkType&);

}  // namespace sextant
