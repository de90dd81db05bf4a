#include "model/io/scenario/allocation_reader.hpp"

#include "model/plan/partition.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// Of the cores, that reach all of the memory's bandwidth; fewer reach it in proportion. Ours: by Little's law a core of 12 line buffers of
// 64 bytes and a memory that answers in 85 ns streams 9 GB/s, and 10 of the 20 cores of a Xeon Gold 6148 the 90 GB/s that its socket
// sustains. Neglects that other jobs on the node take their part of the memory and the cache.
constexpr double saturating_cores = 0.5;

}  // namespace

void read_allocation(ObjectReader& r, Scenario& scenario) {
    r.optional("reserved_devices", scenario.reserved_devices);
    int cores = 0;
    if (!r.optional("cores", cores)) return;
    scenario.cores = cores;
    const int there = scenario.cluster.node.host.cores;
    if (there > 0 && cores > there)
        r.get("cores").complain(std::to_string(cores) + " cores are more than a node has",
                                scenario.cluster.name + " has " + std::to_string(there));
}

// A device's peaks are those of all its cores. What goes on in one thread (launches, decoding) has its core all the same.
void leave_part_of_cores(Scenario& s) {
    NodeSpec& node = s.cluster.node;
    if (!s.cores || node.device.kind != DeviceKind::cpu || node.host.cores == 0) return;
    const double of_device = static_cast<double>(node.host.cores) * node.ranks_per_device / node.devices;
    const int devices = std::min(used_devices_per_node(s), s.plan.devices());
    const double wanted = std::min<double>(node.host.cores, devices * of_device), part = *s.cores / wanted;
    if (part >= 1) return;
    const std::string on = std::to_string(*s.cores) + " of " + std::to_string(std::llround(wanted)) + " cores";
    const auto divide = [&](auto& number, double by) {
        number.value *= by;
        number.source += ", " + on;
    };
    Device& d = node.device;
    const Sourced<Frequency> clock = d.clock;  // of each core, as ever
    scale_compute(d, part, divide);
    d.clock = clock;
    if (d.cache_bandwidth) divide(*d.cache_bandwidth, part);
    if (d.exponential) divide(*d.exponential, 1 / part);
    divide(d.memory_bandwidth, std::min(1.0, part / saturating_cores));
    s.assumptions.push_back("the job computes on " + on + " of a node, at that part of their rates; half of the cores reach all of the " +
                            "memory's bandwidth");
}

}  // namespace sextant
