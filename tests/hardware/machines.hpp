// Small machines for the topology tests, with round numbers: PCIe 20, socket link 16, NVLink 25 per link, NIC 22.5 GB/s achieved.
#pragma once

#include "model/hardware/topology.hpp"

#include <numeric>
#include <vector>

namespace sextant::machines {

using namespace units;
using Members = std::vector<DeviceIndex>;
using Groups = std::vector<Members>;

inline LinkType link(LinkCategory category, double gigabytes, double achievable, double microseconds) {
    LinkType type;
    type.category = category;
    type.bandwidth.value = gigabytes * GB / s;
    type.achievable.value = achievable;
    type.latency.value = microseconds * us;
    return type;
}

// `devices` GPUs evenly on two sockets, each with its own PCIe link; no NVLink, no NIC.
inline Cluster pcie_node(int devices) {
    Cluster c;
    c.name = "test";
    c.node.devices = devices;
    c.node.host_link = link(LinkCategory::pcie, 25, 0.8, 1);
    c.node.host.sockets = 2;
    c.node.host.socket_link = link(LinkCategory::socket, 20, 0.8, 0.5);
    c.node.host.memory_bandwidth.value = 400 * GB / s;
    c.fabric.switch_latency.value = 0.1 * us;
    return c;
}

inline Cluster board(int devices, PeerLayout layout, int links, double gigabytes_per_link = 25) {
    Cluster c = pcie_node(devices);
    c.node.peers.layout = layout;
    c.node.peers.links = links;
    c.node.peers.link = link(LinkCategory::nvlink, gigabytes_per_link, 1, 2);
    return c;
}

// The hybrid cube mesh of a DGX-1: two fully joined quads 0-3 and 4-7, and i joined to i + 4. With P100, one link each: four per GPU.
// With V100 six per GPU: the links that follow are doubled (nvidia-smi topo -m of a DGX-1 with V100 shows them as NV2).
inline Cluster cube_mesh(bool volta) {
    Cluster c = board(8, PeerLayout::matrix, 1, volta ? 25 : 20);
    auto& count = c.node.peers.link_count;
    count.assign(8, std::vector<int>(8));
    const auto join = [&](int a, int b, int links) { count[a][b] = count[b][a] = links; };
    for (const int quad : {0, 4})
        for (int a = quad; a < quad + 4; ++a)
            for (int b = a + 1; b < quad + 4; ++b) join(a, b, 1);
    for (int a = 0; a < 4; ++a) join(a, a + 4, 1);
    const int doubled[][2] = {{0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {4, 7}, {5, 6}, {6, 7}};
    if (volta)
        for (const auto& [a, b] : doubled) join(a, b, 2);
    return c;
}

// Eight GPUs on an NVSwitch (270 GB/s achieved), two GPUs and two HDR NICs to a PCIe switch (32), one flat leaf: like a DGX A100.
inline Cluster dgx_cluster(int nics = 8) {
    Cluster c = board(8, PeerLayout::crossbar, 1, 270);
    c.node.host_link = link(LinkCategory::pcie, 40, 0.8, 1);
    c.node.devices_per_switch = 2;
    c.node.nics = nics;
    c.node.nic_link = link(LinkCategory::infiniband, 25, 0.9, 0.6);
    c.fabric.kind = FabricKind::leaf_spine;
    return c;
}

inline Members all_of(const Topology& t) {
    Members g(t.nodes() * t.devices_per_node());
    std::iota(g.begin(), g.end(), 0);
    return g;
}

// For each local device the group of that device on every node.
inline Groups one_per_node(const Topology& t) {
    Groups groups(t.devices_per_node());
    for (const DeviceIndex d : all_of(t)) groups[d % t.devices_per_node()].push_back(d);
    return groups;
}

inline double ring_gb(const Topology& t, const Members& members, const Groups& groups = {}) {
    return t.ring(members, groups).bandwidth / (GB / s);
}

}  // namespace sextant::machines
