// The engine that a test program is of: each links one of engine_cpu.cpp, engine_kernels.cpp and engine_cuda.cpp.
#pragma once

#include "backend/exec/device.hpp"

#include <memory>

namespace sextant {

std::unique_ptr<ComputeDevice> make_device();

}  // namespace sextant
