#include "tests/predict/random_layouts.hpp"

#include "tests/hardware/machines.hpp"
#include "tests/properties/draw.hpp"

#include <numeric>

namespace sextant {
namespace {

using namespace units;

Cluster random_cluster(Draw& draw) {
    using machines::link;
    Cluster c = machines::pcie_node(draw.of({1, 2, 4, 4, 6, 8, 8, 8}));
    NodeSpec& node = c.node;
    node.host_link = link(LinkCategory::pcie, 31.5, 0.83, 0.7);
    node.host.sockets = draw.of({1, 2, 2});
    node.devices_per_switch = draw.of({1, 2, 4});
    node.peer_access = !draw.one_in(4);
    node.gpu_direct = !draw.one_in(3);
    if (draw.one_in(8)) {
        node.device.kind = DeviceKind::cpu;
    } else {
        const bool eight = node.devices == 8;
        node.peers.layout = draw.of({PeerLayout::none, PeerLayout::crossbar, PeerLayout::crossbar, PeerLayout::all_to_all,
                                     PeerLayout::pairs, eight ? PeerLayout::matrix : PeerLayout::crossbar});
        if (node.peers.layout == PeerLayout::matrix) node.peers.link_count = machines::cube_mesh(draw.one_in(2)).node.peers.link_count;
        node.peers.links = draw.of({1, 3});
        node.peers.link = link(LinkCategory::nvlink, 26.7, 0.91, 1.3);
        node.peers.in_switch_reduction = draw.one_in(2);
        if (node.peers.layout == PeerLayout::crossbar && draw.one_in(4)) node.peers.domain = node.devices * draw.of({2, 3});
    }
    node.nics = draw.of({1, 2, 3, 4, node.devices});
    node.nic_link = link(LinkCategory::infiniband, 24.7, 0.93, 1.1);
    node.ethernet = link(LinkCategory::ethernet, 3.1, 0.87, 21);
    c.fabric.kind = draw.of(
        {FabricKind::single_switch, FabricKind::leaf_spine, FabricKind::leaf_spine, FabricKind::rail_leaf_spine, FabricKind::dragonfly});
    c.fabric.nodes_per_leaf = draw.of({0, 1, 2, 3, 4, 8});
    c.fabric.oversubscription = draw.of({1.0, 1.0, 1.7, 3.0});
    return c;
}

// Experts and shards take tensor ranks, context ranks and data ranks in turn; what is left over must divide.
bool divides(const Plan& plan) {
    if (plan.tp % plan.expert_tensor() != 0) return false;
    const int of_tensor = std::gcd(plan.ep, plan.tp / plan.expert_tensor());
    const int of_context = std::gcd(plan.ep / of_tensor, plan.cp);
    const int shards = plan.shard_ranks(), shards_of_context = std::gcd(shards, plan.cp);
    return plan.dp % (plan.ep / (of_tensor * of_context)) == 0 && plan.dp % (shards / shards_of_context) == 0;
}

Plan random_plan(Draw& draw) {
    Plan plan;
    constexpr int most_ranks = 288;
    do {
        plan = {};
        plan.tp = draw.of({1, 1, 2, 2, 3, 4, 8});
        plan.cp = draw.of({1, 1, 1, 2, 3, 4, 6});
        plan.dp = draw.of({1, 2, 3, 4, 6, 8, 16, 32, 64});
        plan.pp = draw.of({1, 2, 3, 4, 5, 8, 12, 16});
        if (draw.one_in(2)) plan.ep = draw.of({2, 3, 4, 6, 8});
        if (draw.one_in(2)) plan.expert_tp = draw.of({1, 2});
        if (draw.one_in(2)) {
            plan.data_parallel = DataParallel::zero3;
            if (draw.one_in(2)) plan.shard_group = draw.of({2, 3, 4, 6, 8});
        }
    } while (plan.devices() > most_ranks || !divides(plan));
    plan.placement = {PlanDimension::tensor, PlanDimension::context, PlanDimension::data, PlanDimension::pipeline};
    for (std::size_t i = 4; i > 1; --i)
        if (draw.one_in(2)) std::swap(plan.placement[i - 1], plan.placement[draw.below(i)]);
    plan.scattered = draw.one_in(5);
    return plan;
}

}  // namespace

Scenario random_layout(std::uint64_t seed) {
    Draw draw(seed);
    Scenario s;
    s.cluster = random_cluster(draw);
    s.plan = random_plan(draw);
    const int devices = s.cluster.node.devices;
    if (devices > 1 && !s.plan.scattered && draw.one_in(5)) s.plan.devices_per_node = 1 + static_cast<int>(draw.below(devices));
    const int needed = (s.plan.devices() + devices - 1) / devices;
    s.cluster.nodes = s.plan.scattered ? needed + static_cast<int>(draw.below(3)) : s.plan.devices();
    s.use_ethernet = draw.one_in(6);
    return s;
}

Scenario random_allocation(std::uint64_t seed) {
    Draw draw(seed);
    Scenario s = random_layout(seed);
    s.plan.scattered = false;
    s.plan.devices_per_node.reset();
    for (int rest = s.plan.devices(); rest > 0; rest -= s.plan.node_ranks.back())
        s.plan.node_ranks.push_back(std::min(rest, 1 + static_cast<int>(draw.below(static_cast<std::size_t>(s.cluster.node.devices)))));
    if (s.cluster.node.peers.domain > 0 || draw.one_in(2)) return s;
    for (int number = 0; s.cluster.node_numbers.size() < s.plan.node_ranks.size(); ++number)
        if (draw.one_in(2)) s.cluster.node_numbers.push_back(number);
    s.cluster.nodes = s.cluster.node_numbers.back() + 1;
    return s;
}

}  // namespace sextant
