// The kernels of accelerators, with the host in place of one. One lane: several are tested in kernels_test.cpp.
#include "tests/backend/engine.hpp"
#include "tests/backend/host_device.hpp"

namespace sextant {

std::unique_ptr<ComputeDevice> make_device() { return std::make_unique<HostDevice>(1); }

}  // namespace sextant
