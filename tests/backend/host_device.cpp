#include "tests/backend/host_device.hpp"

template class sextant::kernels::KernelDevice<sextant::HostMachine>;
