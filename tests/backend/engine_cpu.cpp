#include "backend/cpu/cpu_device.hpp"
#include "tests/backend/engine.hpp"

namespace sextant {

std::unique_ptr<ComputeDevice> make_device() { return std::make_unique<CpuDevice>(); }
bool computes_in_halves() { return true; }

}  // namespace sextant
