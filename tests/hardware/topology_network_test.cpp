// Between nodes: NICs, leaves and who shares them.
#include "tests/hardware/machines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

using namespace machines;

TEST(TopologyNetwork, AGroupOfWholeNodesUsesEveryNic) {
    // Eight NICs of 22.5: 180 per node, below NVLink's 270.
    const auto t = Topology::build(dgx_cluster(), 16);
    const auto ring = t.ring(all_of(t), {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 180);
    EXPECT_EQ(ring.bottleneck, LinkCategory::infiniband);
    EXPECT_EQ(ring.network_hops, 16);
    EXPECT_EQ(ring.order.size(), 128);
    EXPECT_EQ(ring.host_hops, 0);
}

TEST(TopologyNetwork, NvlinkLimitsWholeNodesWhenTheNicsAreFaster) {
    Cluster c = dgx_cluster();
    c.node.peers.link.bandwidth.value = 150 * GB / s;
    const auto t = Topology::build(c, 2);
    EXPECT_DOUBLE_EQ(ring_gb(t, all_of(t)), 150);
}

TEST(TopologyNetwork, OneRankPerNodeGetsItsOwnNic) {
    const auto t = Topology::build(dgx_cluster(), 16);
    const auto groups = one_per_node(t);
    for (const Members& group : groups) EXPECT_DOUBLE_EQ(ring_gb(t, group, groups), 22.5);
    // device -> PCIe switch -> NIC -> leaf -> NIC -> switch -> device: four PCIe links of 1 us, the wire 0.6, the leaf 0.1.
    EXPECT_NEAR(t.ring(groups[0], groups).step_latency / us, 4.7, 1e-9);
}

TEST(TopologyNetwork, TwoRanksPerNodeUseTwoNics) {
    const auto t = Topology::build(dgx_cluster(), 2);
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 1, 8, 9}), 45);
}

TEST(TopologyNetwork, HalfAsManyNicsAreSharedByTwo) {
    const auto t = Topology::build(dgx_cluster(4), 16);
    EXPECT_DOUBLE_EQ(ring_gb(t, all_of(t)), 90);  // 4 x 22.5
    const auto groups = one_per_node(t);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[3], groups), 11.25);                              // 2 and 3 share a NIC
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[2], {groups[0], groups[2], groups[4]}), 22.5);    // nobody else on NIC 1
    EXPECT_DOUBLE_EQ(ring_gb(t, {2, 3, 10, 11}, {{0, 1, 8, 9}, {2, 3, 10, 11}}), 22.5);  // pairs that share one NIC have it alone
}

TEST(TopologyNetwork, TwiceAsManyNicsAreAllUsed) {
    Cluster c = dgx_cluster(16);
    c.node.nic_link.bandwidth.value = 10 * GB / s;  // 9 achieved
    const auto t = Topology::build(c, 4);
    const auto groups = one_per_node(t);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[5], groups), 18);
    EXPECT_DOUBLE_EQ(ring_gb(t, all_of(t)), 144);
}

TEST(TopologyNetwork, NodesHangWhereTheirNumbersSay) {
    // Leaves of four nodes: 2 and 3 hang at the first, 9 at the third, and no leaf stands between. From 3 to 9 a copy passes leaf, spine
    // and leaf: two hops more, of 0.1 us each.
    Cluster c = dgx_cluster();
    c.fabric.kind = FabricKind::leaf_spine;
    c.fabric.nodes_per_leaf = 4;
    c.nodes = 16;
    c.node_numbers = {2, 3, 9};
    const auto t = Topology::build(c, 3);
    EXPECT_NEAR((t.path(8, 16).latency - t.path(0, 8).latency) / us, 0.2, 1e-9);
    EXPECT_EQ(std::ranges::count(t.vertices(), VertexKind::leaf, &TopologyVertex::kind), 2);
    c.node_numbers.clear();
    EXPECT_EQ(std::ranges::count(Topology::build(c, 3).vertices(), VertexKind::leaf, &TopologyVertex::kind), 1);
}

TEST(TopologyNetwork, RingsShareTheUplinkOfAnOversubscribedLeaf) {
    Cluster c = dgx_cluster();
    c.fabric.nodes_per_leaf = 2;
    c.fabric.oversubscription = 4;
    // Uplink of a leaf: 2 nodes x 8 NICs x 22.5 / 4 = 90. A ring leaves each leaf once with its whole bandwidth.
    const auto t = Topology::build(c, 4);
    EXPECT_DOUBLE_EQ(ring_gb(t, all_of(t)), 90);
    const auto groups = one_per_node(t);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[0], groups), 11.25);  // 90 / 8
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[0], {}), 22.5);
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 8}, groups), 22.5 / 2);  // inside one leaf, but its NIC serves group 0 as well
    // leaf -> spine -> leaf: three switches instead of one.
    EXPECT_NEAR((t.path(0, 16).latency - t.path(0, 8).latency) / us, 0.2, 1e-9);
}

TEST(TopologyNetwork, ARailHasALeafOfItsOwn) {
    Cluster c = dgx_cluster();
    c.fabric.kind = FabricKind::rail_leaf_spine;
    c.fabric.nodes_per_leaf = 2;
    c.fabric.oversubscription = 4;
    // Uplink of a rail's leaf: 2 nodes x 1 NIC x 22.5 / 4 = 11.25.
    const auto t = Topology::build(c, 4);
    const auto groups = one_per_node(t);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[6], {}), 11.25);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[6], groups), 11.25);
    EXPECT_DOUBLE_EQ(ring_gb(t, all_of(t)), 90);  // an eighth over each rail
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 8}), 22.5);   // one leaf
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 9}), 11.25);  // two rails: over the spine
    EXPECT_EQ(t.path(0, 8).links.size() + 2, t.path(0, 9).links.size());
}

TEST(TopologyNetwork, DragonflyGroupsAreJoinedPairwise) {
    Cluster c = dgx_cluster();
    c.fabric.kind = FabricKind::dragonfly;
    c.fabric.nodes_per_leaf = 2;
    c.fabric.oversubscription = 3;
    // 2 x 8 x 22.5 / 3 = 120 leave a group, for two others: 60 each.
    const auto t = Topology::build(c, 6);
    EXPECT_DOUBLE_EQ(ring_gb(t, all_of(t)), 60);
    const auto groups = one_per_node(t);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[0], groups), 7.5);
}

TEST(TopologyNetwork, ScatteredRanksRingNodeByNode) {
    const auto t = Topology::build(dgx_cluster(), 4);
    const Members scattered{27, 0, 18, 9};
    EXPECT_EQ(t.ring(scattered, {}).order, (Members{0, 9, 18, 27}));
    EXPECT_DOUBLE_EQ(ring_gb(t, scattered), 22.5);
    // Three on node 0, one on node 1: one NIC at one end, so one ring. Neither a second group on the other NICs nor NVLink matters.
    EXPECT_DOUBLE_EQ(ring_gb(t, {2, 0, 12, 1}, {{2, 0, 12, 1}, {3, 11}}), 22.5);
    EXPECT_EQ(t.ring(Members{2, 0, 12, 1}, {}).network_hops, 2);
}

TEST(TopologyNetwork, NodesWithoutNvlinkRingOverPcieAndTheNic) {
    Cluster c = pcie_node(4);
    c.node.nics = 1;
    c.node.nic_link = link(LinkCategory::infiniband, 12.5, 0.8, 0.6);  // 10, on socket 0
    c.fabric.kind = FabricKind::single_switch;
    const auto t = Topology::build(c, 2);
    const auto ring = t.ring(all_of(t), {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 10);
    EXPECT_EQ(ring.network_hops, 2);
    // Groups {0, 1} and {2, 3} of both nodes: the NIC carries both; the second also crosses the sockets.
    EXPECT_DOUBLE_EQ(ring_gb(t, {2, 3, 6, 7}, {{0, 1, 4, 5}, {2, 3, 6, 7}}), 5);
    // With a fast NIC the way back from device 3 to the NIC on socket 0 limits: the socket link, 16.
    c.node.nic_link.bandwidth.value = 100 * GB / s;
    EXPECT_DOUBLE_EQ(ring_gb(Topology::build(c, 2), {0, 1, 2, 3, 4, 5, 6, 7}), 16);
}

TEST(TopologyNetwork, NicsThatCannotReadDeviceMemoryStageInTheHost) {
    Cluster c = dgx_cluster();
    c.node.gpu_direct = false;
    // Device 0 climbs from its switch (32) to host memory, and the data comes down again to the NIC on that same switch; what arrives
    // takes the same way back. So a hop out and a hop in use the uplink twice in each direction: 32 x 0.55 / 2. Eight groups: two
    // devices to a switch, half of that.
    const auto t = Topology::build(c, 2);
    const auto groups = one_per_node(t);
    EXPECT_TRUE(t.path(0, 8).through_host);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[0]), 8.8);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[0], groups), 4.4);
    EXPECT_EQ(t.ring(groups[0], {}).host_hops, 2);
}

TEST(TopologyNetwork, AnNvlinkDomainMaySpanNodes) {
    // Domains of eight devices on nodes of four, a NIC each: like NVL72 in small.
    Cluster c = board(4, PeerLayout::crossbar, 1, 270);
    c.node.peers.domain = 8;
    c.node.nics = 4;
    c.node.host.sockets = 1;
    c.node.nic_link = link(LinkCategory::infiniband, 25, 0.8, 0.6);  // 20, as PCIe
    c.fabric.kind = FabricKind::single_switch;
    const auto t = Topology::build(c, 4);
    EXPECT_FALSE(t.path(0, 7).crosses_network);
    EXPECT_TRUE(t.path(0, 8).crosses_network);
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 1, 2, 3, 4, 5, 6, 7}), 270);
    const auto ring = t.ring(all_of(t), {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 160);  // eight NICs of 20 for a domain
    EXPECT_EQ(ring.network_hops, 2);
}

// Domains of 72 on nodes of four. 32 nodes stand behind two switches, 16 each; 36 fill two; 38 fill two and begin a third.
TEST(TopologyNetwork, AJobHasAsManyNodesBehindEachSwitchAsDivideIt) {
    Cluster c = board(4, PeerLayout::crossbar, 1, 270);
    c.node.peers.domain = 72;
    c.node.nics = 4;
    c.fabric.kind = FabricKind::single_switch;
    const auto behind_the_first = [&](int nodes) {
        const auto t = Topology::build(c, nodes);
        int last = 0;
        while (last + 1 < nodes && !t.path(0, 4 * (last + 1)).crosses_network) ++last;
        return last + 1;
    };
    EXPECT_EQ(behind_the_first(7), 7);
    EXPECT_EQ(behind_the_first(32), 16);
    EXPECT_EQ(behind_the_first(36), 18);
    EXPECT_EQ(behind_the_first(38), 18) << "two would leave most of a switch empty";
}

TEST(TopologyNetwork, EthernetIsUsedWhileInfinibandIsIdle) {
    Cluster c = dgx_cluster();
    c.node.ethernet = link(LinkCategory::ethernet, 1.25, 0.8, 15);  // 1 GB/s
    const auto t = Topology::build(c, 16, true);
    const auto ring = t.ring(all_of(t), {});
    EXPECT_DOUBLE_EQ(ring.bandwidth / (GB / s), 1);
    EXPECT_EQ(ring.bottleneck, LinkCategory::ethernet);
    EXPECT_EQ(ring.host_hops, 16);  // the kernel cannot read device memory
    const auto groups = one_per_node(t);
    EXPECT_DOUBLE_EQ(ring_gb(t, groups[2], groups), 0.125);
    EXPECT_DOUBLE_EQ(ring_gb(t, {0, 1, 2, 3}), 270);  // NVLink is not touched
}

TEST(TopologyNetwork, AllToAllSendsMostOfItsBytesThroughTheNics) {
    // 16 devices on two nodes: 8 of each one's 15 parts leave through its NIC: 22.5 x 15 / 8.
    const auto two = Topology::build(dgx_cluster(), 2);
    EXPECT_DOUBLE_EQ(two.all_to_all_bandwidth(all_of(two), {}) / (GB / s), 42.1875);
    // Two leaves of two nodes, uplink 90: 16 devices send 16 of 31 parts each to the other leaf: 90 x 31 / 256.
    Cluster c = dgx_cluster();
    c.fabric.nodes_per_leaf = 2;
    c.fabric.oversubscription = 4;
    const auto four = Topology::build(c, 4);
    EXPECT_NEAR(four.all_to_all_bandwidth(all_of(four), {}) / (GB / s), 90.0 * 31 / 256, 1e-9);
    // Eight groups of one per node, each with 2 of 3 parts to the other leaf from either node: 8 x 4/3 on 90.
    const auto groups = one_per_node(four);
    EXPECT_NEAR(four.all_to_all_bandwidth(groups[0], groups) / (GB / s), 90.0 * 3 / 32, 1e-9);
}

TEST(TopologyNetwork, AThousandNodesAreLaidLikeTwo) {
    const auto t = Topology::build(dgx_cluster(), 1024);
    EXPECT_NEAR(ring_gb(t, all_of(t)), 180, 1e-6);
    EXPECT_NEAR(ring_gb(t, one_per_node(t)[0], one_per_node(t)), 22.5, 1e-6);
}

}  // namespace
}  // namespace sextant
