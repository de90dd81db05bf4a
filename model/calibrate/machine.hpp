// A machine of cores as a cluster whose numbers are still guesses: where a calibration begins.
#pragma once

#include "model/hardware/cluster.hpp"

#include <string>

namespace sextant {

struct MachineFacts {
    std::string host, processor;
    int cores = 1;
    Bytes memory;
    Bytes cache;              // of one core (L2); zero: not known
    bool bf16 = false;        // cores multiply it faster than fp32
    Bytes shared_cache = {};  // a core's part of the last cache; zero: not known
};

// Each core is a device. What the facts do not say is taken from `like`, a profile of such a machine, and called an estimate.
Cluster machine_cluster(const MachineFacts&, const Cluster& like);

}  // namespace sextant
