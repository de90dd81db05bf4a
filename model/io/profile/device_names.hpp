// Finds the device of the catalogue that a driver describes.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/hardware/catalog.hpp"
#include "model/hardware/device_facts.hpp"

#include <string>

namespace sextant {

// The name in the catalogue of what a driver calls "NVIDIA A100-SXM4-40GB" or "Tesla V100-SXM2-16GB"; the same name where there is none.
std::string catalog_name(Catalog&, const std::string& device);

// The bundled device of this compute capability, or of the nearest before it; of several the one with most alike multiprocessors, but none
// that is held down for export (an H20 multiplies a quarter of what an H100's multiprocessors do). Throws InputError where there is none.
Device nearest_device(Catalog&, const DeviceFacts&);

}  // namespace sextant
