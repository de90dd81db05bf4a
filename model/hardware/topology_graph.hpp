// What a Topology holds, for topology*.cpp alone.
//
// Nodes are alike: vertices and links of node n are those of node 0, moved by n * node_vertices and n * node_links. So a route inside
// a node is found once, on node 0, and a route between nodes is arithmetic. "Local" numbers are those of node 0.
#pragma once

#include "model/hardware/group_traffic.hpp"
#include "model/hardware/topology.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace sextant {

// Large transfers through a bounce buffer in host memory get this fraction of what the links on the way would carry: the copies in and out
// meet at the memory and in the root complex. ABCI 2.0 (A100 SXM4, PCIe gen4, peer access off; p2pBandwidthLatencyTest matrices in
// github.com/aistabci/abci2.0benchmark): 14 GB/s each way when both ways are busy, as in a ring, where the links carry 26.
inline constexpr double staging_efficiency = 0.55;

struct Route {
    std::vector<int> links;
    bool through_host = false;
    bool crosses_network = false;
};

// Nodes begin .. end - 1.
struct Nodes {
    int begin = 0, end = 0;
};

struct Topology::Graph {
    std::vector<TopologyVertex> vertices;
    std::vector<TopologyLink> links;

    int nodes = 0;
    int devices = 0;  // of a node; local vertices 0 .. devices - 1
    int node_vertices = 0;
    int node_links = 0;

    bool host_ranks = false;      // the devices are CPUs: they live in host memory
    bool peers_staged = false;    // copies over PCIe go through host memory
    bool network_staged = false;  // NICs do not read device memory

    // Inside node 0. link_into[a * node_vertices + v]: the last link of the route over PCIe and sockets from a to v.
    std::vector<int> link_into;
    std::vector<int> memory_of;             // device -> host memory of its socket
    std::vector<std::vector<int>> nics_of;  // device -> numbers of the NICs that serve it, nearest first
    std::vector<int> nic_vertex;
    std::vector<int> nic_port;  // NIC -> local link to its leaf

    // Direct links between devices: how many, and the local link that stands for all of them.
    std::vector<std::vector<int>> peer_count;
    std::vector<std::vector<int>> peer_link;
    int switch_span = 0;           // devices on one peer switch, across nodes; 0: there is none
    std::vector<int> switch_port;  // device -> local link to its peer switch

    // The fabric. Leaves are numbered group by group; with rails a group has one leaf per NIC.
    int nodes_per_leaf = 1;
    bool nodes_follow = true;     // each other in the fabric, without a gap
    std::vector<int> leaf_group;  // of a node: the quotient, which is asked for often
    int leaves = 0;
    bool rails = false;
    bool dragonfly = false;
    int first_leaf_link = 0;  // leaf l to spine: + 2 l; dragonfly: pair by pair

    [[nodiscard]] int node_of(DeviceIndex d) const { return d / devices; }
    [[nodiscard]] int local(DeviceIndex d) const { return d % devices; }
    [[nodiscard]] int leaf_of(int node, int nic) const {
        return rails ? leaf_group[node] * static_cast<int>(nic_vertex.size()) + nic : leaf_group[node];
    }
    [[nodiscard]] bool in_one_leaf(Nodes n) const { return !rails && leaf_group[n.begin] == leaf_group[n.end - 1]; }
    [[nodiscard]] int leaf_to_spine(int leaf) const { return first_leaf_link + 2 * leaf; }
    [[nodiscard]] int leaf_to_leaf(int from, int to) const {  // dragonfly; from != to
        const int low = std::min(from, to), high = std::max(from, to);
        const int pair = low * (2 * leaves - low - 1) / 2 + (high - low - 1);  // row by row of the upper triangle
        return first_leaf_link + 2 * pair + (from > to ? 1 : 0);
    }
    void leaf_to_leaf(int from, int to, Route&) const;  // any fabric; from != to
    // The link from a device to its peer switch.
    [[nodiscard]] int port(DeviceIndex d) const { return node_of(d) * node_links + switch_port[local(d)]; }
    [[nodiscard]] bool same_peer_switch(DeviceIndex a, DeviceIndex b) const {
        return switch_span > 0 && a / switch_span == b / switch_span;
    }
    // Devices that a ring visits before it goes on over the network: a node, or all nodes on one peer switch. Unit u starts at u * unit().
    [[nodiscard]] int unit() const { return std::max(devices, switch_span); }

    // Appends to the route.
    void inside_host(int node, int from, int to, Route&) const;  // local vertices
    void route(DeviceIndex from, DeviceIndex to, Route&) const;
    void device_to_nic(DeviceIndex, int nic, Route&) const;
    void nic_to_nic(int from_node, int from_nic, int to_node, int to_nic, Route&) const;
    void nic_to_device(int nic, DeviceIndex, Route&) const;
    void over_network(DeviceIndex from, int from_nic, DeviceIndex to, int to_nic, Route&) const;

    // What a transfer over `link` gets of its bandwidth: less on the host's links when staged.
    [[nodiscard]] double efficiency(int link, bool through_host) const;
    [[nodiscard]] Seconds latency(const Route&) const;
};

// From the first to the last node of the group.
inline Nodes reach(const SpreadGroup& group, int nodes_per_block) {
    const std::vector<int>& nodes = group.formation->nodes;
    return {(group.first + group.shifts.front()) * nodes_per_block + nodes.front(),
            (group.first + group.shifts.back()) * nodes_per_block + nodes.back() + 1};
}

// How much crosses each link when each group moves one unit of traffic per member: bandwidth is the least of capacity over load.
class LinkLoads {
public:
    explicit LinkLoads(const Topology::Graph& graph) : graph_(graph), load_(graph.links.size()) {}

    // Forgets what was counted. What follows counts on the links of the fabric and of these nodes.
    void count_on(Nodes one, Nodes other);
    [[nodiscard]] bool counts_node_of(DeviceIndex d) const { return one_.has_device(d) || other_.has_device(d); }

    // Whether what a group does inside one leaf, on these nodes, is not counted.
    [[nodiscard]] bool passes_over(Nodes nodes) const {
        const auto meets = [&](const Inside& counted) {
            return nodes.begin * graph_.devices < counted.end && nodes.end * graph_.devices > counted.begin;
        };
        return graph_.in_one_leaf(nodes) && !meets(one_) && !meets(other_);
    }

    void add(int link, double weight) {
        if (!counts(link)) return;
        if (load_[link] == 0) touched_.push_back(link);
        load_[link] += weight;
    }
    void add(const Route& r, double weight) {
        for (const int l : r.links) add(l, weight / graph_.efficiency(l, r.through_host));
    }
    // What is added from here on is traffic of other groups, which limits ours only where both meet.
    void end_of_own() { own_ = touched_.size(); }

    struct Limit {
        Bandwidth bandwidth = Bandwidth::from_si(std::numeric_limits<double>::infinity());
        Bandwidth of_network = bandwidth;  // what its links of the network alone would let through
        LinkCategory category = LinkCategory::pcie;
    };
    [[nodiscard]] Limit limit() const;
    // The loads of all groups since count_on().
    [[nodiscard]] std::vector<LinkLoad> all() const;

private:
    [[nodiscard]] bool counts(int link) const { return one_.has_link(link) || other_.has_link(link) || link >= first_of_fabric_; }

    // What is inside some nodes.
    struct Inside {
        DeviceIndex begin = 0, end = 0;
        int first_link = 0, last_link = 0;  // one past the last
        [[nodiscard]] bool has_device(DeviceIndex d) const { return d >= begin && d < end; }
        [[nodiscard]] bool has_link(int l) const { return l >= first_link && l < last_link; }
    };
    [[nodiscard]] Inside inside(Nodes nodes) const {
        return {nodes.begin * graph_.devices, nodes.end * graph_.devices, nodes.begin * graph_.node_links, nodes.end * graph_.node_links};
    }

    const Topology::Graph& graph_;
    int first_of_fabric_ = graph_.nodes * graph_.node_links;
    Inside one_, other_;
    std::vector<double> load_;  // by link
    std::vector<int> touched_;  // our own links first
    std::size_t own_ = 0;
};

// A group anywhere, described in one block that is the whole machine.
inline constexpr int only_block = 0;
inline SpreadGroup in_one_block(const Formation& formation) { return {&formation, 0, std::span(&only_block, 1)}; }

// The groups that are not `members` in another order.
std::vector<std::span<const DeviceIndex>> other_groups(std::span<const DeviceIndex> members,
                                                       std::span<const std::vector<DeviceIndex>> groups);

// Ascending `sorted`, cut where a new unit (Graph::unit) begins.
std::vector<std::span<const DeviceIndex>> split_by_unit(std::span<const DeviceIndex> sorted, int unit);

}  // namespace sextant
