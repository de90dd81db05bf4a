// A machine as a cluster whose numbers are still guesses: where a calibration begins.
#pragma once

#include "model/hardware/cluster.hpp"
#include "model/hardware/device_facts.hpp"

#include <string>

namespace sextant {

// Of a rate that products sustain: there is no peak beside it.
Sourced<double> reached_whole();

struct MachineFacts {
    std::string host, processor;
    int cores = 1;
    Bytes memory;
    Bytes cache;           // of one core (L2); zero: not known
    bool bf16 = false;     // cores multiply it faster than fp32
    Bytes shared_cache{};  // of all cores together (L3); zero: none, or not known
};

// Each core is a device. What the facts do not say is taken from `like`, a profile of such a machine, and called an estimate.
Cluster machine_cluster(const MachineFacts&, const Cluster& like);

// So many hosts like this one, with a network between them of which nothing is known: a port of each, and one switch.
Cluster connected_hosts(Cluster, int hosts);

// A device that nobody described, after one of its compute capability: rates as many times those as it has multiprocessors and clock, the
// rest as its driver says or as in `like`.
Device device_after(const DeviceFacts&, const Device& like);

// The machine whose devices those of `like` are. What its rates are said to be in runs of hours, and products that others measured, is left
// out: measured here is what short runs reach.
Cluster gpu_cluster(const MachineFacts&, const DeviceFacts&, const Cluster& like);

}  // namespace sextant
