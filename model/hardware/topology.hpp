// The machine as a graph: devices, PCIe switches, sockets, NVSwitches, NICs, leaf and spine switches, and the links between them.
//
// Paths, bottleneck bandwidth and latency, ring order and the sharing of links all come from this graph, not from constants.
// The graph holds `nodes` nodes of the cluster, those that the job uses; nodes are alike. docs/model/topology.md derives every number.
#pragma once

#include "model/hardware/cluster.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

enum class VertexKind { device, pcie_switch, socket, host_memory, nic, peer_switch, leaf, spine };

struct TopologyVertex {
    VertexKind kind = VertexKind::device;
    std::optional<int> node;  // none for what stands outside the nodes: peer switches, leaves, the spine
    int index = 0;            // among its kind, in its node
    std::string name;         // "n3.gpu0"
};

// One direction of a link. Links i and i ^ 1 are the two directions of the same cable.
struct TopologyLink {
    int from = 0, to = 0;  // vertices
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
    bool through_host = false;  // staged in host memory: no peer access, or a NIC that cannot read device memory
    bool crosses_network = false;
};

// What a ring collective over a set of devices gets from the topology.
struct RingLayout {
    std::vector<DeviceIndex> order;                // device after device; the last sends to the first
    Bandwidth bandwidth;                           // bytes per second that one device passes to its successor, all rings together,
                                                   // after sharing every link with the ring's other hops and with the concurrent
                                                   // groups; infinite for a single member
    Bandwidth over_network;                        // as much, if nothing but the network limited it; infinite where no hop leaves a node
    Seconds step_latency;                          // of the slowest hop
    int network_hops = 0;                          // hops that cross the fabric
    int host_hops = 0;                             // hops staged through host memory
    LinkCategory bottleneck = LinkCategory::pcie;  // the kind of link that limits it
};

// What a communication puts on a link: bytes for each byte of its progress, as each function below says. Where a copy is staged in host
// memory the host's links count for more, by what they then carry less. So a communication that has the machine to itself goes forward
// at the least of bandwidth over weight.
struct LinkLoad {
    int link = 0;  // index into Topology::links(); each at most once
    double weight = 0;
};

class Topology {
public:
    // `use_ethernet`: collectives leave the node over the slow interface although a faster one exists.
    // Throws InputError where no such machine can be: no device, or several nodes and nothing between them.
    static Topology build(const Cluster&, int nodes, bool use_ethernet = false);

    Topology(Topology&&) noexcept;
    Topology& operator=(Topology&&) noexcept;
    ~Topology();

    [[nodiscard]] int nodes() const;
    [[nodiscard]] int devices_per_node() const;
    // Devices that a ring visits before it goes on over the network: of a node, or of all nodes on one peer switch.
    [[nodiscard]] int devices_per_unit() const;
    [[nodiscard]] std::span<const TopologyVertex> vertices() const;
    [[nodiscard]] std::span<const TopologyLink> links() const;

    // The path that a copy between two devices takes: NVLink where there is one, else PCIe, else the network.
    // 0 <= device < nodes() x devices_per_node(), here and below.
    [[nodiscard]] TransferPath path(DeviceIndex from, DeviceIndex to) const;

    // The best ring (or bundle of rings) over `members`, distinct devices in any order. `groups` are all the groups that communicate
    // at the same time, with or without `members` itself: a NIC, uplink or socket link that several groups cross is shared between them.
    [[nodiscard]] RingLayout ring(std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups) const;

    // Bytes per second that each member sends, to all others together, when every member sends equally to every other (all-to-all);
    // groups share links as above; infinite for a single member.
    [[nodiscard]] Bandwidth all_to_all_bandwidth(std::span<const DeviceIndex> members,
                                                 std::span<const std::vector<DeviceIndex>> groups) const;

    // What each byte of a transfer puts on each link: one direction of a ring of the two, spread over their NICs ... (Of groups:
    // group_traffic.hpp.)
    [[nodiscard]] std::vector<LinkLoad> send_loads(DeviceIndex from, DeviceIndex to) const;
    // ... for each byte copied from a device to the memory of a host, or back. Another node's is reached over the network: from the
    // device's NICs to those of the same number; there so many devices of a host have one byte together.
    [[nodiscard]] std::vector<LinkLoad> host_copy_loads(DeviceIndex, int node, bool to_host, int together = 1) const;

    struct Graph;  // topology_graph.hpp: for the sources of this class

private:
    friend class GroupTraffic;
    explicit Topology(std::unique_ptr<Graph>);
    std::unique_ptr<Graph> graph_;
};

}  // namespace sextant
