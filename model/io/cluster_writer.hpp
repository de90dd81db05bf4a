// A cluster as a profile that reads back: schema cluster/1, everything it refers to written out inside.
#pragma once

#include "model/hardware/cluster.hpp"

#include <string>

namespace sextant {

// Numbers to nine digits, each with its kind and source. Measured GEMM curves are left out: they stand in a file beside a device's.
std::string cluster_to_profile(const Cluster&);

}  // namespace sextant
