// In a simulated step a collective is one flow that loads the links as all its messages do (docs/decisions/0006). Here its messages are
// played one by one, over the same topology.
#include "model/hardware/group_traffic.hpp"
#include "tests/hardware/machines.hpp"
#include "tests/simulate/reference/collective_flows.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sextant {
namespace {

using namespace machines;
using namespace units;

// Each rank passes `bytes` on to its successor; no protocol, so that nothing but the links takes time.
Seconds as_one_flow(const Topology& t, const std::vector<DeviceIndex>& members, Bytes bytes) {
    Bandwidth rate = Bandwidth::from_si(std::numeric_limits<double>::infinity());
    for (const LinkLoad& load : GroupTraffic(t).ring_loads(members))
        rate = min(rate, t.links()[static_cast<std::size_t>(load.link)].bandwidth / load.weight);
    return bytes / rate;
}

Seconds as_messages(const Topology& t, const std::vector<DeviceIndex>& members, Bytes size) {
    RankNetwork network = network_of(t, t.ring(members, std::vector<std::vector<DeviceIndex>>{members}).order);
    const auto with_latency = network.route;
    network.route = [with_latency](int from, int to) {
        FlowRoute route = with_latency(from, to);
        route.latency = Seconds{};  // the price of a collective has it in its fixed time
        return route;
    };
    return play(network, ring_all_reduce(static_cast<int>(members.size()), size)).end;
}

struct Case {
    std::string name;
    Topology topology;
    std::vector<DeviceIndex> members;
};

std::vector<Case> cases() {
    Cluster leaves = dgx_cluster(1);  // one NIC to a node, so that a ring has one way out
    leaves.fabric.nodes_per_leaf = 2;
    leaves.fabric.oversubscription = 4;
    std::vector<Case> list;
    list.push_back({"eight on an NVSwitch", Topology::build(dgx_cluster(), 1), {0, 1, 2, 3, 4, 5, 6, 7}});
    list.push_back({"four over PCIe and two sockets", Topology::build(pcie_node(4), 1), {0, 1, 2, 3}});
    list.push_back({"one in each of four nodes", Topology::build(leaves, 4), {0, 8, 16, 24}});
    list.push_back({"two nodes through one NIC each", Topology::build(dgx_cluster(1), 2), {0, 1, 2, 3, 8, 9, 10, 11}});
    return list;
}

TEST(CollectiveAsOneFlow, TakesAsLongAsItsMessages) {
    constexpr Bytes size = 800 * MB;
    for (const Case& c : cases()) {
        const double n = static_cast<double>(c.members.size());
        const Seconds one = as_one_flow(c.topology, c.members, 2 * (n - 1) / n * size);
        EXPECT_NEAR(as_messages(c.topology, c.members, size) / one, 1, 1e-9) << c.name;
    }
}

}  // namespace
}  // namespace sextant
