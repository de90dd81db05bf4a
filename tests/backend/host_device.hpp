// A device whose kernels the host runs. Compiled once for all programs of tests: it is every kernel there is.
#pragma once

#include "backend/kernels/kernel_device.hpp"
#include "tests/backend/host_machine.hpp"

namespace sextant {

using HostDevice = kernels::KernelDevice<HostMachine>;

}  // namespace sextant

extern template class sextant::kernels::KernelDevice<sextant::HostMachine>;
