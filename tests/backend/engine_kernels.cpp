// The kernels of accelerators, with the host in place of one.
#include "backend/kernels/kernel_device.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/host_machine.hpp"

namespace sextant {

std::unique_ptr<ComputeDevice> make_device() {
    constexpr int lanes = 3;  // divides few widths
    return std::make_unique<kernels::KernelDevice<HostMachine>>(lanes);
}

}  // namespace sextant
