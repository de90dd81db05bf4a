// Plays a task graph as discrete events: streams, launch queues, and links shared max-min fairly by whatever crosses them at the same time.
//
//   - Segments of a stream start in order, each once those that it waits for have ended. Events are ordered by (time, sequence).
//   - A compute segment runs its pieces one after another. A kernel ends no sooner than the host has issued it; it runs slower while
//     another stream of its device communicates.
//   - A collective starts when all its ranks have reached it. Its fixed time passes first; then its bytes flow, all hops of all rings in
//     step, at the rate that max-min fairness gives it (fluid_network.hpp).
//   - What loaders read crosses storage and NICs in the same way; where a host has too few cores, loaders and kernels share them.
// docs/model/simulation.md derives each rule by examples.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/graph/task_graph.hpp"
#include "model/graph/trace.hpp"
#include "model/hardware/topology.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// What makes ranks differ: independent noise on every rank's kernels, and devices that are slower.
struct Jitter {
    double noise = 0;  // relative standard deviation of the time of a rank's kernels, drawn once per step
    std::uint64_t seed = 1;
    int slow_devices = 0;  // this many ranks, the first of the job, run at `slow_speed`
    double slow_speed = 1;
};

// By rank of the graph: how many times as long as their price its kernels take.
std::vector<double> slowness_of(const TaskGraph&, const Jitter&);

// Where the ranks of the job stand on the topology.
struct Placement {
    std::vector<DeviceIndex> device_of;  // by rank of the job
    std::vector<int> node_of_server;     // by parameter server: its weights lie in host memory there
    int sent_together = 1;               // workers of a host whose gradients (and weights) cross the network once, together
};

// How much of a link, or of a device's compute stream, was in use over time, in equal intervals from 0 to the end of the step.
struct UtilizationSeries {
    std::string name;          // "rank 3", "n0.gpu3 -> nvswitch0"
    int count = 1;             // how many devices or links, all used alike, the series stands for
    std::vector<double> busy;  // fraction of the interval (device), or of the capacity (link)
    std::vector<int> links{};  // the Topology::links() it stands for, ascending; empty for devices and for what loaders share
};
double mean_of(const UtilizationSeries&);  // over the step

struct Simulation {
    Trace trace;
    std::vector<UtilizationSeries> devices, links;
    std::uint64_t events = 0;
    bool folded_alike = true;  // ranks folded into one share links alike; otherwise the one is as slow as the slowest of them
};

// Is called now and then with the fraction of the segments that has been played. Returning false stops the
// simulation, which then throws Stopped.
using PlayListener = std::function<bool(double played)>;
class Stopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the simulation was stopped"; }
};

Simulation simulate(const TaskGraph&, const CostTable&, const Topology&, const Placement&, const Jitter& = {}, const PlayListener& = {});

// Plays a graph whose kernels, host work and copies have no fixed order: the segments of these streams start in the order in which they
// become ready, as those of a parameter server always do. Collectives and sends keep their order.
Simulation play_as_ready(const TaskGraph&, const CostTable&, const Topology&, const Placement&, const PlayListener& = {});

}  // namespace sextant
