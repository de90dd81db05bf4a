// Plays a task graph as discrete events: streams, launch queues, and links shared max-min fairly by whatever crosses them at the same time.
//
//   - Segments of a stream start in order, each when those that it waits for have ended. Events are ordered by (time, sequence).
//   - A compute segment runs its pieces one after another. A kernel ends no sooner than the host has issued it; it runs slower while
//     another stream of its device communicates.
//   - A collective starts when all its ranks have come to it. Its fixed time passes first; then its bytes flow, all hops of all its rings
//     in step, at the rate that max-min fairness leaves it (fluid_network.hpp).
//   - What loaders read crosses storage and NICs likewise, and where a host's cores are short they and the kernels share those.
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
    double noise = 0;  // standard deviation of the time of a rank's kernels over its mean, drawn once per step
    std::uint64_t seed = 1;
    int slow_devices = 0;  // the first so many ranks of the job run at `slow_speed`
    double slow_speed = 1;
};

// By rank of the graph: how much longer than their price its kernels take.
std::vector<double> slowness_of(const TaskGraph&, const Jitter&);

// Where the ranks of the job stand on the topology.
struct Placement {
    std::vector<DeviceIndex> device_of;  // by rank of the job
    std::vector<int> node_of_server;     // by parameter server: its weights lie in host memory there
    int sent_together = 1;               // workers of a host whose gradients, and weights, pass the network as one
};

// How much of a link, or of a device's compute stream, was in use over time: equal intervals from 0 to the end of the step.
struct UtilizationSeries {
    std::string name;          // "rank 3", "n0.gpu3 -> nvswitch0"
    int count = 1;             // devices or links that are used alike, and that the series stands for
    std::vector<double> busy;  // fraction of the interval (device), or of the capacity (link)
    std::vector<int> links{};  // those of Topology::links() that it stands for, ascending; empty for devices and what loaders share
};
double mean_of(const UtilizationSeries&);  // over the step

struct Simulation {
    Trace trace;
    std::vector<UtilizationSeries> devices, links;
    std::uint64_t events = 0;
    bool folded_alike = true;  // ranks that one of the graph stands for share links alike; else it is as slow as the slowest of them
};

// Hears now and then which part of the segments has been played, 0 to 1. False stops the simulation, which then throws Stopped.
using PlayListener = std::function<bool(double played)>;
class Stopped : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the simulation was stopped"; }
};

Simulation simulate(const TaskGraph&, const CostTable&, const Topology&, const Placement&, const Jitter& = {}, const PlayListener& = {});

// Plays a graph whose kernels, host work and copies have no order of their own: of each of these streams segments start in the order in
// which they become ready, as those of a parameter server always do. Collectives and sends keep theirs.
Simulation play_as_ready(const TaskGraph&, const CostTable&, const Topology&, const Placement&, const PlayListener& = {});

}  // namespace sextant
