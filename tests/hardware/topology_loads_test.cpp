// What a communication puts on each link agrees with the bandwidth that the topology gives it.
#include "model/hardware/group_traffic.hpp"
#include "tests/hardware/machines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace sextant {
namespace {

using namespace machines;

// GB/s of a communication that has the machine to itself.
double alone_gb(const Topology& t, const std::vector<LinkLoad>& loads) {
    double least = std::numeric_limits<double>::infinity();
    for (const LinkLoad& load : loads)
        least = std::min(least, t.links()[static_cast<std::size_t>(load.link)].bandwidth / load.weight / (GB / s));
    return least;
}

double weight_on(const Topology& t, const std::vector<LinkLoad>& loads, const std::string& from, const std::string& to) {
    double weight = 0;
    for (const LinkLoad& load : loads) {
        const TopologyLink& link = t.links()[static_cast<std::size_t>(load.link)];
        if (t.vertices()[static_cast<std::size_t>(link.from)].name == from && t.vertices()[static_cast<std::size_t>(link.to)].name == to)
            weight += load.weight;
    }
    return weight;
}

struct Machine {
    std::string name;
    Topology topology;
    bool full_duplex = true;  // two devices that send to each other do not meet on a link
};

std::vector<Machine> machines_of_all_kinds() {
    Cluster staged = pcie_node(4);
    staged.node.peer_access = false;
    Cluster staged_network = dgx_cluster();
    staged_network.node.gpu_direct = false;
    Cluster leaves = dgx_cluster();
    leaves.fabric.nodes_per_leaf = 2;
    leaves.fabric.oversubscription = 4;
    Cluster rails = leaves;
    rails.fabric.kind = FabricKind::rail_leaf_spine;
    Cluster dragonfly = leaves;
    dragonfly.fabric.kind = FabricKind::dragonfly;
    Cluster domain = dgx_cluster();
    domain.node.peers.domain = 16;
    Cluster mesh = cube_mesh(true);
    mesh.node.nics = 4;
    mesh.node.nic_link = link(LinkCategory::infiniband, 12.5, 0.9, 0.6);
    mesh.fabric.kind = FabricKind::leaf_spine;
    Cluster processors = pcie_node(2);
    processors.node.device.kind = DeviceKind::cpu;
    processors.node.nics = 1;
    processors.node.nic_link = link(LinkCategory::ethernet, 1.25, 0.9, 20);
    processors.fabric.kind = FabricKind::single_switch;

    std::vector<Machine> list;
    list.push_back({"PCIe only", Topology::build(pcie_node(4), 1)});
    list.push_back({"staged", Topology::build(staged, 1), false});
    list.push_back({"NVSwitch", Topology::build(dgx_cluster(), 2)});
    list.push_back({"fewer NICs", Topology::build(dgx_cluster(4), 3)});
    list.push_back({"more NICs", Topology::build(dgx_cluster(16), 3)});
    list.push_back({"staged network", Topology::build(staged_network, 2), false});
    list.push_back({"oversubscribed leaves", Topology::build(leaves, 4)});
    list.push_back({"rails", Topology::build(rails, 4)});
    list.push_back({"dragonfly", Topology::build(dragonfly, 6)});
    list.push_back({"NVSwitch over two nodes", Topology::build(domain, 4)});
    list.push_back({"hybrid cube mesh", Topology::build(mesh, 2)});
    list.push_back({"CPU ranks", Topology::build(processors, 3), false});
    return list;
}

// All devices, every second one, the first and the last, and one of each node.
Groups groups_of(const Topology& t) {
    const Members all = all_of(t);
    Members halves;
    for (const DeviceIndex d : all)
        if (d % 2 == 0) halves.push_back(d);
    Groups groups = one_per_node(t);
    groups.push_back({all.front(), all.back()});
    groups.push_back(halves);
    groups.push_back(all);
    return groups;
}

TEST(TopologyLoads, TheTightestLinkOfARingGivesItsBandwidth) {
    for (const Machine& m : machines_of_all_kinds())
        for (const Members& group : groups_of(m.topology)) {
            const double bandwidth = ring_gb(m.topology, group, {group});
            if (group.size() < 2)
                EXPECT_TRUE(GroupTraffic(m.topology).ring_loads(group).empty()) << m.name;
            else
                EXPECT_NEAR(alone_gb(m.topology, GroupTraffic(m.topology).ring_loads(group)) / bandwidth, 1, 1e-12)
                    << m.name << ", " << group.size();
        }
}

TEST(TopologyLoads, TheTightestLinkOfAnAllToAllGivesItsBandwidth) {
    for (const Machine& m : machines_of_all_kinds())
        for (const Members& group : groups_of(m.topology)) {
            const Bandwidth bandwidth = m.topology.all_to_all_bandwidth(group, Groups{group});
            if (group.size() < 2)
                EXPECT_TRUE(GroupTraffic(m.topology).all_to_all_loads(group).empty()) << m.name;
            else
                EXPECT_NEAR(alone_gb(m.topology, GroupTraffic(m.topology).all_to_all_loads(group)) / (bandwidth / (GB / s)), 1, 1e-12)
                    << m.name << ", " << group.size();
        }
}

TEST(TopologyLoads, ATransferGoesAsFastAsARingOfTheTwoWhoseDirectionsDoNotMeet) {
    for (const Machine& m : machines_of_all_kinds())
        for (const DeviceIndex to : all_of(m.topology)) {
            if (to == 0) continue;
            const double ring = ring_gb(m.topology, {0, to}), transfer = alone_gb(m.topology, m.topology.send_loads(0, to));
            if (m.full_duplex)
                EXPECT_NEAR(transfer / ring, 1, 1e-12) << m.name << ", to " << to;
            else
                EXPECT_GE(transfer / ring, 1 - 1e-12) << m.name << ", to " << to;
        }
}

TEST(TopologyLoads, TransfersThereAndBackDoNotMeet) {
    for (const Machine& m : machines_of_all_kinds()) {
        if (!m.full_duplex) continue;
        const DeviceIndex last = all_of(m.topology).back();
        const auto back = m.topology.send_loads(last, 0);
        for (const LinkLoad& load : m.topology.send_loads(0, last))
            EXPECT_EQ(std::ranges::count(back, load.link, &LinkLoad::link), 0) << m.name;
    }
}

TEST(TopologyLoads, ATransferIsSpreadOverTheNicsOfItsDevices) {
    // Sixteen NICs, two to a device: half of the bytes through each.
    const auto t = Topology::build(dgx_cluster(16), 2);
    const auto loads = t.send_loads(0, 8);
    EXPECT_DOUBLE_EQ(weight_on(t, loads, "n0.nic0", "leaf0"), 0.5);
    EXPECT_DOUBLE_EQ(weight_on(t, loads, "n0.nic1", "leaf0"), 0.5);
    EXPECT_DOUBLE_EQ(weight_on(t, loads, "n0.gpu0", "n0.pcie0"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, loads, "leaf0", "n0.nic0"), 0);
    EXPECT_DOUBLE_EQ(alone_gb(t, loads), 32);  // PCIe: the NICs would carry 45
}

TEST(TopologyLoads, PairsOnTwoSocketsMeetOnTheLinkBetweenThem) {
    // Two of four on each socket. Ring 0 1 2 3 crosses once each way, 16 GB/s. Of an all-to-all 2 x 2 pairs cross with a third each.
    const auto t = Topology::build(pcie_node(4), 1);
    const auto ring = GroupTraffic(t).ring_loads(all_of(t)), all_to_all = GroupTraffic(t).all_to_all_loads(all_of(t));
    EXPECT_DOUBLE_EQ(weight_on(t, ring, "n0.socket0", "n0.socket1"), 1);
    EXPECT_DOUBLE_EQ(alone_gb(t, ring), 16);
    EXPECT_DOUBLE_EQ(weight_on(t, all_to_all, "n0.socket1", "n0.socket0"), 4.0 / 3);
    EXPECT_DOUBLE_EQ(weight_on(t, all_to_all, "n0.gpu2", "n0.socket1"), 1);
    EXPECT_DOUBLE_EQ(alone_gb(t, all_to_all), 12);
}

TEST(TopologyLoads, AStagedCopyCountsForMoreOnTheLinksOfTheHost) {
    // 0.55 of the links' bandwidth: 1 / 0.55 bytes for each byte of the copy.
    Cluster c = pcie_node(4);
    c.node.peer_access = false;
    const auto t = Topology::build(c, 1);
    EXPECT_DOUBLE_EQ(weight_on(t, t.send_loads(0, 1), "n0.gpu0", "n0.socket0"), 1 / 0.55);
}

TEST(TopologyLoads, ACopyToItsOwnHostCrossesPcieOnce) {
    const auto t = Topology::build(dgx_cluster(), 2);
    const auto down = t.host_copy_loads(3, 0, true), up = t.host_copy_loads(3, 0, false);
    EXPECT_DOUBLE_EQ(alone_gb(t, down), 32);
    EXPECT_DOUBLE_EQ(weight_on(t, down, "n0.gpu3", "n0.pcie1"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, down, "n0.socket0", "n0.memory0"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, up, "n0.pcie1", "n0.gpu3"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, up, "n0.gpu3", "n0.pcie1"), 0);
}

TEST(TopologyLoads, ACopyToAnotherHostCrossesTheNetwork) {
    const auto t = Topology::build(dgx_cluster(), 2);
    const auto down = t.host_copy_loads(3, 1, true), up = t.host_copy_loads(3, 1, false);
    EXPECT_DOUBLE_EQ(alone_gb(t, down), 22.5);
    EXPECT_DOUBLE_EQ(weight_on(t, down, "n0.nic3", "leaf0"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, down, "leaf0", "n1.nic3"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, down, "n1.socket0", "n1.memory0"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, up, "n1.nic3", "leaf0"), 1);
    EXPECT_DOUBLE_EQ(weight_on(t, up, "n0.pcie1", "n0.gpu3"), 1);
}

}  // namespace
}  // namespace sextant
