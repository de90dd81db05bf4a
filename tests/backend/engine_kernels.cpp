// The kernels of accelerators, with the host in place of one. One lane: several are tested in kernels_test.cpp.
#include "backend/kernels/kernel_device.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/host_machine.hpp"

namespace sextant {

std::unique_ptr<ComputeDevice> make_device() { return std::make_unique<kernels::KernelDevice<HostMachine>>(1); }

}  // namespace sextant
