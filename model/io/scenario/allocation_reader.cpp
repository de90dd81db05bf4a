#include "model/io/scenario/allocation_reader.hpp"

#include "model/io/scenario/slurm_lists.hpp"
#include "model/plan/partition.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// The fraction of the cores that reaches all of the memory's bandwidth; fewer reach it in proportion. Ours: by Little's law a core of 12
// line buffers of 64 bytes and a memory that answers in 85 ns streams 9 GB/s, and 10 of the 20 cores of a Xeon Gold 6148 the 90 GB/s that
// its socket sustains. Neglects that other jobs on the node take their part of the memory and the cache.
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

DevicesOfNodes read_devices_of_nodes(ObjectReader& r) {
    DevicesOfNodes found;
    const JsonNode node = r.get("devices_per_node");
    if (!node.value) return found;
    std::string text;
    if (node.is_array()) {
        bool is_empty = true;
        r.each("devices_per_node", [&](const JsonNode& n) {
            int devices = 0;
            is_empty = false;
            if (read_value(n, devices)) found.of_node.push_back(devices);
        });
        if (is_empty) node.complain("a list of no node", "one number for each node, or leave it out");
    } else if (!node.is_string()) {
        read_value(node, found.each);
    } else if (read_value(node, text)) {
        if (const auto counts = read_repeated_counts(text))
            found.of_node = *counts;
        else
            node.complain("\"" + text + "\" is no list of devices on each node",
                          R"(a number, [4, 4, 1], or as SLURM_TASKS_PER_NODE has it: "4(x2),1")");
    }
    if (found.of_node.empty()) return found;
    const auto full = found.of_node.end() - (found.of_node.size() > 1 ? 1 : 0);
    const int first = found.of_node.front();
    if (std::all_of(found.of_node.begin(), full, [&](int n) { return n == first; }) && found.of_node.back() <= first) found.each = first;
    return found;
}

void read_node_list(ObjectReader& r, Cluster& cluster) {
    std::string text;
    if (!r.optional("node_list", text)) return;
    const JsonNode node = r.get("node_list");
    const auto numbers = read_node_list(text);
    if (!numbers) return node.complain("\"" + text + "\" is no list of nodes", "as SLURM_JOB_NODELIST has it, ascending: \"gcn[2-4,17]\"");
    if (numbers->back() > cluster.nodes)
        return node.complain(cluster.name + " has no node of number " + std::to_string(numbers->back()),
                             "it has " + std::to_string(cluster.nodes) + "; nodes of one name are numbered from 0 or 1");
    if (cluster.node.peers.domain > cluster.node.devices)
        return node.complain("where a job's nodes stand behind peer switches of several nodes is not read", "leave it out");
    cluster.node_numbers = *numbers;
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
    if (d.shared_cache_bandwidth) divide(*d.shared_cache_bandwidth, part);
    if (d.exponential) divide(*d.exponential, 1 / part);
    divide(d.memory_bandwidth, std::min(1.0, part / saturating_cores));
    s.assumptions.push_back("the job computes on " + on + " of a node, at that part of their rates; half of the cores reach all of the " +
                            "memory's bandwidth");
}

}  // namespace sextant
