#include "backend/cpu/cpu_device.hpp"
#include "tests/backend/engine.hpp"

namespace sextant {

std::unique_ptr<ComputeDevice> make_device() { return std::make_unique<CpuDevice>(); }

}  // namespace sextant
