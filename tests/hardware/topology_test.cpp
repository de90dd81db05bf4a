// Inside a node, and what holds for every machine. Between nodes: topology_network_test.cpp.
#include "model/base/diagnostics.hpp"
#include "tests/base/refusal.hpp"
#include "tests/hardware/machines.hpp"

#include <gtest/gtest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

#include <cmath>

namespace sextant {
namespace {

using namespace machines;

TEST(Topology, EveryDeviceOnAnNvswitchGetsItsWholePort) {
    const auto t = Topology::build(dgx_cluster(), 1);
    const auto ring = t.ring(all_of(t), {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 270);
    EXPECT_EQ(ring.order, (Members{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(ring.bottleneck, LinkCategory::nvlink);
    EXPECT_DOUBLE_EQ(ring.step_latency / us, 2);  // that of the port, once from device to device
    // Two groups of four: ports are not shared.
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 1, 2, 3}, {{0, 1, 2, 3}, {4, 5, 6, 7}}), 270);
}

TEST(Topology, AnAllToAllBoardUsesAllLinksOfADevice) {
    // Four GPUs, four links of 25 between each pair: 3 peers x 100.
    const auto t = Topology::build(board(4, PeerLayout::all_to_all, 4), 1);
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 1, 2, 3}), 300);
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 2, 3}), 200);
    EXPECT_DOUBLE_EQ(ring_gb(t, {1, 3}), 100);
    EXPECT_DOUBLE_EQ(t.path(1, 3).bottleneck / (GB / s), 100);
}

TEST(Topology, Dgx1WithV100TurnsSixLinksIntoSixRings) {
    const auto t = Topology::build(cube_mesh(true), 1);
    EXPECT_NEAR(ring_gb(t, all_of(t)), 150, 1e-6);
    // Quad 0-3: pairs 0-1, 0-2, 1-3 have one link, 0-3, 1-2, 2-3 two. Cycles A = 0123, B = 0132, C = 0213: 0-1 allows A + B <= 1 and
    // 0-2 allows B + C <= 1, so A + B + C <= 2 (A = C = 1): four rings of 25.
    EXPECT_NEAR(ring_gb(t, {0, 1, 2, 3}), 100, 1e-6);
    EXPECT_NEAR(ring_gb(t, {0, 3}), 50, 1e-6);
    EXPECT_NEAR(ring_gb(t, {0, 1}), 25, 1e-6);
}

TEST(Topology, Dgx1WithP100TurnsFourLinksIntoFourRings) {
    const auto t = Topology::build(cube_mesh(false), 1);
    EXPECT_NEAR(ring_gb(t, all_of(t)), 80, 1e-6);
    EXPECT_NEAR(ring_gb(t, {4, 5, 6, 7}), 60, 1e-6);  // three links to the other three
}

TEST(Topology, DevicesWithoutARingOfDirectLinksFallBackToPcie) {
    // 0 and 5 are not joined, and stand on different sockets: the socket link's 20 x 0.8 = 16.
    const auto t = Topology::build(cube_mesh(true), 1);
    const auto ring = t.ring(Members{0, 5}, {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 16);
    EXPECT_EQ(ring.bottleneck, LinkCategory::socket);
}

TEST(Topology, ARingOverBridgedPairsLeavesNvlink) {
    const auto four = Topology::build(board(4, PeerLayout::pairs, 2), 1);
    EXPECT_DOUBLE_EQ(ring_gb(four, {2, 3}), 50);
    // 0 -> 1 and 2 -> 3 over bridges, 1 -> 2 and 3 -> 0 over PCIe (20) and the socket link (16).
    EXPECT_DOUBLE_EQ(ring_gb(four, {0, 1, 2, 3}), 16);
    EXPECT_EQ(four.path(0, 1).links.size(), 1);
    EXPECT_EQ(four.path(1, 2).links.size(), 3);
    // Eight: 3 -> 4 and 7 -> 0 cross the sockets, once in either direction.
    const auto eight = Topology::build(board(8, PeerLayout::pairs, 2), 1);
    EXPECT_DOUBLE_EQ(ring_gb(eight, all_of(eight)), 16);
    EXPECT_DOUBLE_EQ(ring_gb(eight, {0, 1, 2, 3}), 20);  // one socket: PCIe limits
}

TEST(Topology, DevicesUnderOneSwitchShareItsUplink) {
    Cluster c = pcie_node(4);
    c.node.devices_per_switch = 2;
    c.node.host.sockets = 1;
    const auto t = Topology::build(c, 1);
    // In order 0 1 2 3 only 1 -> 2 and 3 -> 0 climb: each uplink carries one flow up and one down.
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 1, 2, 3}), 20);
    // 0 with 2 and 1 with 3: both groups climb both uplinks.
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 2}, {{0, 2}, {1, 3}}), 10);
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 2}, {}), 20);
    EXPECT_EQ(t.path(0, 1).links.size(), 2);
    EXPECT_EQ(t.path(0, 2).links.size(), 4);
    EXPECT_DOUBLE_EQ(t.path(0, 2).latency / us, 4);
}

TEST(Topology, MembersGivenInAnyOrderAreLaidByPlace) {
    const auto t = Topology::build(pcie_node(8), 1);
    const auto ring = t.ring(Members{5, 0, 7, 2}, {});
    EXPECT_EQ(ring.order, (Members{0, 2, 5, 7}));
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 16);
}

TEST(Topology, GroupsAcrossTheSocketsShareTheSocketLink) {
    const auto t = Topology::build(pcie_node(8), 1);
    EXPECT_DOUBLE_EQ(ring_gb(t, all_of(t)), 16);
    EXPECT_DOUBLE_EQ(ring_gb(t, {1, 5}, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}), 4);     // 16 / 4
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 1, 2, 3}, {{0, 1, 2, 3}, {4, 5, 6, 7}}), 20);  // nobody crosses
}

TEST(Topology, WithoutPeerAccessCopiesPassThroughHostMemory) {
    Cluster c = pcie_node(4);
    c.node.peer_access = false;
    const auto t = Topology::build(c, 1);
    // device -> socket -> memory -> socket -> device at 0.55 of PCIe's 20.
    const auto path = t.path(0, 1);
    EXPECT_TRUE(path.through_host);
    EXPECT_EQ(path.links.size(), 4);
    EXPECT_DOUBLE_EQ(path.bottleneck / (GB / s), 11);
    const auto ring = t.ring(Members{0, 1}, {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 11);
    EXPECT_EQ(ring.host_hops, 2);
    // Slow memory: 40 GB/s on two sockets, half for writes: 10 each way; two hops write to it: 10 x 0.55 / 2.
    c.node.host.memory_bandwidth.value = 40 * GB / s;
    EXPECT_DOUBLE_EQ(ring_gb(Topology::build(c, 1), {0, 1}), 2.75);
    EXPECT_EQ(Topology::build(c, 1).ring(Members{0, 1}, {}).bottleneck, LinkCategory::memory);
}

TEST(Topology, CpuRanksTalkThroughHostMemory) {
    Cluster c = pcie_node(4);
    c.node.device.kind = DeviceKind::cpu;
    c.node.host.sockets = 1;
    c.node.host.memory_bandwidth.value = 40 * GB / s;
    // Four hops write to the memory and read from it, 20 GB/s either way.
    const auto t = Topology::build(c, 1);
    const auto ring = t.ring(all_of(t), {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 5);
    EXPECT_EQ(ring.bottleneck, LinkCategory::memory);
    EXPECT_EQ(ring.host_hops, 0);  // host memory is where they live
    // What one rank can copy may be less.
    c.node.host_link = link(LinkCategory::memory, 4, 0.75, 1);
    EXPECT_DOUBLE_EQ(ring_gb(Topology::build(c, 1), {0, 1, 2, 3}), 3);
    EXPECT_DOUBLE_EQ(Topology::build(c, 1).path(0, 3).latency / us, 1);
}

TEST(Topology, OneMemberCommunicatesForFree) {
    const auto t = Topology::build(dgx_cluster(), 2);
    EXPECT_TRUE(std::isinf(ring_gb(t, {3}, one_per_node(t))));
    EXPECT_TRUE(std::isinf(t.all_to_all_bandwidth(Members{3}, {}).si()));
    EXPECT_EQ(t.ring(Members{3}, {}).order, Members{3});
}

TEST(Topology, AllToAllInANodeIsLimitedByThePortOrTheSocketLink) {
    const auto dgx = Topology::build(dgx_cluster(), 1);
    EXPECT_DOUBLE_EQ(dgx.all_to_all_bandwidth(all_of(dgx), {}) / (GB / s), 270);
    // Four devices on two sockets: each sends 1/3 to each; 2 x 2 pairs cross in either direction: 4/3 of what one sends. 16 x 3/4.
    const auto pcie = Topology::build(pcie_node(4), 1);
    EXPECT_DOUBLE_EQ(pcie.all_to_all_bandwidth(all_of(pcie), {}) / (GB / s), 12);
}

TEST(Topology, RefusesMachinesThatCannotBe) {
    Cluster c = pcie_node(4);
    EXPECT_THROW(Topology::build(c, 2), InputError);  // nothing between the nodes
    EXPECT_THROW(Topology::build(c, 0), InputError);
    c.node.peers.layout = PeerLayout::matrix;
    c.node.peers.link_count = {{0, 1}, {1, 0}};
    c.node.devices = 4;
    EXPECT_EQ(problems_found_by([&] { return Topology::build(c, 2); }).size(), 2);  // all at once
}

TEST(Topology, RefusesMoreNodesThanMemoryHolds) {
    Cluster c = dgx_cluster();
    EXPECT_NO_THROW(Topology::build(c, 10'000));
    EXPECT_THROW(Topology::build(c, 100'000'000), InputError);
}

// What holds for every machine.

Cluster with_fabric(FabricKind kind) {
    Cluster c = dgx_cluster();
    c.fabric.kind = kind;
    c.fabric.nodes_per_leaf = 2;
    c.fabric.oversubscription = 2;
    return c;
}

struct WiredMachine {
    const char* name;
    Cluster cluster;
    int nodes;
};

std::vector<WiredMachine> wired_machines() {
    Cluster staged = with_fabric(FabricKind::leaf_spine);
    staged.node.gpu_direct = false;
    staged.node.peer_access = false;
    staged.node.peers.layout = PeerLayout::none;
    Cluster rack = with_fabric(FabricKind::leaf_spine);
    rack.node.peers.domain = 16;
    Cluster few_nics = with_fabric(FabricKind::rail_leaf_spine);
    few_nics.node.nics = 3;
    Cluster cpus = with_fabric(FabricKind::single_switch);
    cpus.node.device.kind = DeviceKind::cpu;
    cpus.node.peers.layout = PeerLayout::none;
    Cluster mesh = with_fabric(FabricKind::dragonfly);
    mesh.node.peers = cube_mesh(true).node.peers;
    return {{"leaf-spine", with_fabric(FabricKind::leaf_spine), 5},
            {"rails", with_fabric(FabricKind::rail_leaf_spine), 5},
            {"dragonfly", with_fabric(FabricKind::dragonfly), 6},
            {"staged", staged, 3},
            {"rack", rack, 5},
            {"few NICs", few_nics, 4},
            {"cpus", cpus, 3},
            {"mesh", mesh, 4}};
}

// In the order of the devices.
std::vector<int> device_vertices(const Topology& t) {
    std::vector<int> list;
    for (std::size_t v = 0; v < t.vertices().size(); ++v)
        if (t.vertices()[v].kind == VertexKind::device) list.push_back(static_cast<int>(v));
    return list;
}

TEST(Topology, IsOneConnectedGraphOfTwoWayLinks) {
    for (const auto& [name, cluster, nodes] : wired_machines()) {
        const auto t = Topology::build(cluster, nodes);
        boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(t.vertices().size());
        for (std::size_t i = 0; i < t.links().size(); ++i) {
            const auto& link = t.links()[i];
            boost::add_edge(link.from, link.to, graph);
            EXPECT_EQ(link.from, t.links()[i ^ 1].to) << name;
            EXPECT_EQ(link.to, t.links()[i ^ 1].from) << name;
        }
        std::vector<int> component(t.vertices().size());
        EXPECT_EQ(boost::connected_components(graph, component.data()), 1) << name;
        EXPECT_EQ(device_vertices(t).size(), all_of(t).size()) << name;
    }
}

TEST(Topology, PathsLeadFromDeviceToDeviceAndNameTheirBottleneck) {
    for (const auto& [name, cluster, nodes] : wired_machines()) {
        const auto t = Topology::build(cluster, nodes);
        const std::vector<int> vertices = device_vertices(t);
        for (const DeviceIndex a : all_of(t)) {
            for (const DeviceIndex b : all_of(t)) {
                const auto path = t.path(a, b);
                int at = vertices[a];
                Seconds latency;
                for (const int l : path.links) {
                    ASSERT_EQ(t.links()[l].from, at) << name << " " << a << " to " << b;
                    at = t.links()[l].to;
                    latency += t.links()[l].latency;
                    EXPECT_LE(path.bottleneck, t.links()[l].bandwidth);
                }
                ASSERT_EQ(at, vertices[b]) << name;
                EXPECT_DOUBLE_EQ(latency.si(), path.latency.si());
            }
        }
    }
}

TEST(Topology, MoreBandwidthOnAnyLinkIsNeverSlower) {
    const auto rings = [](const Cluster& c, int nodes) {
        const auto t = Topology::build(c, nodes);
        const auto groups = one_per_node(t);
        return std::vector{ring_gb(t, all_of(t)), ring_gb(t, groups[1], groups), ring_gb(t, {0, 3, 9, 10, 17}),
                           t.all_to_all_bandwidth(all_of(t), {}) / (GB / s)};
    };
    for (const auto& [name, cluster, nodes] : wired_machines()) {
        const auto before = rings(cluster, nodes);
        for (int which = 0; which < 5; ++which) {
            Cluster faster = cluster;
            Bandwidth* const bandwidths[] = {&faster.node.host_link.bandwidth.value, &faster.node.host.socket_link.bandwidth.value,
                                             &faster.node.nic_link.bandwidth.value, &faster.node.peers.link.bandwidth.value,
                                             &faster.node.host.memory_bandwidth.value};
            *bandwidths[which] *= 1.7;
            const auto after = rings(faster, nodes);
            for (std::size_t i = 0; i < before.size(); ++i) EXPECT_GE(after[i], before[i] * (1 - 1e-12)) << name << " " << which;
        }
    }
}

TEST(Topology, TheSameMachineGivesTheSameAnswer) {
    for (const auto& [name, cluster, nodes] : wired_machines()) {
        const auto a = Topology::build(cluster, nodes), b = Topology::build(cluster, nodes);
        const auto first = a.ring(all_of(a), one_per_node(a)), second = b.ring(all_of(b), one_per_node(b));
        EXPECT_EQ(first.order, second.order) << name;
        EXPECT_EQ(first.bandwidth, second.bandwidth) << name;
        auto reversed = all_of(a);
        std::reverse(reversed.begin(), reversed.end());
        EXPECT_EQ(a.ring(reversed, one_per_node(a)).bandwidth, first.bandwidth) << name;
    }
}

TEST(Topology, AllToAllAgreesWithCountingEveryPath) {
    // Routes every ordered pair over path() and takes the slowest link: what the count by leaves abbreviates.
    for (const auto& [name, cluster, nodes] : wired_machines()) {
        const auto t = Topology::build(cluster, nodes);
        for (const Members& members : {all_of(t), Members{0, 1, 5, 8, 13, 16, 18, 23}}) {
            std::vector<double> load(t.links().size());
            double slowest = 0;
            for (const DeviceIndex a : members) {
                for (const DeviceIndex b : members) {
                    const auto path = t.path(a, b);
                    for (const int l : path.links) {
                        const auto category = t.links()[l].category;
                        const bool network = category == LinkCategory::infiniband;
                        load[l] += 1.0 / static_cast<double>(members.size() - 1) / (path.through_host && !network ? 0.55 : 1);
                        slowest = std::max(slowest, load[l] / t.links()[l].bandwidth.si());
                    }
                }
            }
            EXPECT_NEAR(t.all_to_all_bandwidth(members, {}).si() * slowest, 1, 1e-9) << name;
        }
    }
}

}  // namespace
}  // namespace sextant
