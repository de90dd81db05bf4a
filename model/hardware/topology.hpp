// The machine as a graph: devices, PCIe switches, sockets, NVSwitches, NICs, leaf and spine switches, and the links between them.
//
// Paths, bottleneck bandwidth and latency, ring order and the sharing of links all come from this graph, not from constants.
// The graph holds `nodes` nodes of the cluster, those that the job uses; nodes are alike.
#pragma once

#include "model/hardware/cluster.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant {

enum class VertexKind { device, pcie_switch, socket, peer_switch, nic, leaf, spine };

struct TopologyVertex {
    VertexKind kind = VertexKind::device;
    int node = 0;   // -1 for switches of the fabric
    int index = 0;  // among its kind, in its node
    std::string name;
};

struct TopologyLink {
    int from = 0, to = 0;  // vertices; one entry per direction
    LinkCategory category = LinkCategory::pcie;
    Bandwidth bandwidth;  // achievable, this direction
    Seconds latency;
};

// A device by its place. Global device number d is node d / devices_per_node, local d % devices_per_node.
using DeviceIndex = int;

struct TransferPath {
    std::vector<int> links;  // indices into Topology::links(), in order
    Bandwidth bottleneck;
    Seconds latency;
    bool through_host = false;  // staged in host memory: no peer access
    bool crosses_network = false;
};

// What a ring collective over a set of devices gets from the topology.
struct RingLayout {
    std::vector<DeviceIndex> order;                // device after device; the last sends to the first
    Bandwidth bandwidth;                           // bytes per second that one device passes to its successor, all rings together,
                                                   // after sharing every link with the ring's other hops and with `concurrent` equal rings
    Seconds step_latency;                          // of the slowest hop
    int network_hops = 0;                          // hops that cross the fabric
    int host_hops = 0;                             // hops staged through host memory
    LinkCategory bottleneck = LinkCategory::pcie;  // the kind of link that limits it
};

class Topology {
public:
    // `use_ethernet`: collectives leave the node over the slow interface although a faster one exists.
    static Topology build(const Cluster&, int nodes, bool use_ethernet = false);

    Topology(Topology&&) noexcept;
    Topology& operator=(Topology&&) noexcept;
    ~Topology();

    [[nodiscard]] int nodes() const;
    [[nodiscard]] int devices_per_node() const;
    [[nodiscard]] std::span<const TopologyVertex> vertices() const;
    [[nodiscard]] std::span<const TopologyLink> links() const;
    [[nodiscard]] int vertex_of(DeviceIndex) const;

    // The path that a copy between two devices takes: NVLink where there is one, else PCIe, else the network.
    // Among equal paths the first by vertex number, so that equal input gives equal output.
    [[nodiscard]] TransferPath path(DeviceIndex from, DeviceIndex to) const;

    // The best ring (or bundle of rings) over `members`. `groups` are all the groups that communicate at the same time,
    // members among them: a NIC, uplink or socket link that several groups cross is shared between them.
    [[nodiscard]] RingLayout ring(std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups) const;

    // Bandwidth that each member gets when all members send to all others at once (all-to-all), groups sharing links as above.
    [[nodiscard]] Bandwidth all_to_all_bandwidth(std::span<const DeviceIndex> members,
                                                 std::span<const std::vector<DeviceIndex>> groups) const;

private:
    struct Graph;  // Boost.Graph inside
    explicit Topology(std::unique_ptr<Graph>);
    std::unique_ptr<Graph> graph_;
};

}  // namespace sextant
