#include "model/hardware/group_traffic.hpp"

#include "model/hardware/ring_packing.hpp"
#include "model/hardware/topology_graph.hpp"

#include <algorithm>

namespace sextant {
namespace {

// The NICs that serve the part.
std::vector<Formation::Gate> gates_of(const Topology::Graph& g, std::span<const DeviceIndex> order) {
    std::vector<Formation::Gate> gates;
    std::vector<std::pair<int, int>> seen;  // node, NIC
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const int nic : g.nics_of[g.local(order[i])]) {
            const std::pair key{g.node_of(order[i]), nic};
            if (std::ranges::find(seen, key) != seen.end()) continue;
            seen.push_back(key);
            gates.push_back({i, nic});
        }
    }
    return gates;
}

}  // namespace

GroupTraffic::GroupTraffic(const Topology& topology, int block_devices)
    : graph_(*topology.graph_), block_devices_(block_devices), loads_(std::make_unique<LinkLoads>(graph_)) {}
GroupTraffic::~GroupTraffic() = default;

Formation GroupTraffic::form(std::vector<DeviceIndex> devices) {
    std::ranges::sort(devices);
    Formation formation;
    formation.devices = devices.size();
    for (const DeviceIndex d : devices)
        if (formation.nodes.empty() || graph_.node_of(d) != formation.nodes.back()) formation.nodes.push_back(graph_.node_of(d));
    for (const auto unit : split_by_unit(devices, graph_.unit())) {
        Formation::Part part{{unit.begin(), unit.end()}, {unit.begin(), unit.end()}, {}, {}};
        part.on_switch = unit.size() > 1 && graph_.same_peer_switch(unit.front(), unit.back());
        if (unit.size() > 1 && !part.on_switch) part.bundle = bundle_of(unit);
        if (part.bundle != nullptr)
            for (std::size_t i = 0; i < unit.size(); ++i) part.order[i] = unit[part.bundle->order[i]];
        part.gates = gates_of(graph_, part.order);
        for (const DeviceIndex d : unit) {
            const auto& nics = graph_.nics_of[graph_.local(d)];
            for (const int nic : nics) part.ways.push_back({d, graph_.node_of(d), nic, 1.0 / static_cast<double>(nics.size())});
        }
        formation.rings = formation.parts.empty() ? part.gates.size() : std::min(formation.rings, part.gates.size());
        formation.parts.push_back(std::move(part));
    }
    return formation;
}

const RingBundle* GroupTraffic::bundle_of(std::span<const DeviceIndex> unit) {
    if (graph_.switch_span > 0) return nullptr;
    std::vector<int> locals;
    for (const DeviceIndex d : unit) locals.push_back(graph_.local(d));
    const auto [entry, is_new] = bundles_.try_emplace(locals);
    if (is_new) {
        std::vector<std::vector<int>> count;
        for (const int a : locals) {
            count.emplace_back();
            for (const int b : locals) count.back().push_back(graph_.peer_count[a][b]);
        }
        entry->second = pack_rings(count);
    }
    return entry->second ? &*entry->second : nullptr;
}

bool GroupTraffic::may_meet(const SpreadGroup& a, const SpreadGroup& b) const {
    const int nodes = block_devices_ / graph_.devices;
    const Nodes one = reach(a, nodes), other = reach(b, nodes);
    const auto place = [&](int node) { return graph_.leaves < 2 ? node : graph_.leaf_group[node]; };
    return place(one.begin) <= place(other.end - 1) && place(other.begin) <= place(one.end - 1);
}

int GroupTraffic::place_in_leaf(int block, int period) const {
    const int nodes = block_devices_ / graph_.devices;
    if (graph_.leaves > 1 && !graph_.nodes_follow) return block;  // no leaf is known to be like another
    return graph_.leaves < 2 || graph_.nodes_per_leaf % (period * nodes) == 0 ? 0 : block * nodes % graph_.nodes_per_leaf;
}

void GroupTraffic::count_on(int block) {
    const int nodes = block_devices_ / graph_.devices;
    loads_->count_on({block * nodes, (block + 1) * nodes}, {});
}

// Those in which the formation stands, and where it has but one block, those that it reaches from there.
void GroupTraffic::count_first_blocks_of(const SpreadGroup& group) {
    const auto& parts = group.formation->parts;
    const int nodes = block_devices_ / graph_.devices;
    const auto nodes_at = [&](DeviceIndex d, int shift) {
        const int block = group.first + shift + d / block_devices_;
        return Nodes{block * nodes, (block + 1) * nodes};
    };
    loads_->count_on(nodes_at(parts.front().devices.front(), 0),
                     nodes_at(parts.back().devices.back(), group.shifts.size() > 1 ? group.shifts[1] : 0));
}

// Groups anywhere are formations of one block, the whole machine.

namespace {

int whole(const Topology& t) { return t.nodes() * t.devices_per_node(); }

template <class Answer>
auto beside(const Topology& topology, std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups,
            Answer answer) {
    GroupTraffic traffic(topology);
    const Formation own = traffic.form({members.begin(), members.end()});
    std::vector<Formation> formations;
    for (const auto other : other_groups(members, groups))
        if (!other.empty()) formations.push_back(traffic.form({other.begin(), other.end()}));
    std::vector<SpreadGroup> others;
    others.reserve(formations.size());
    for (const Formation& formation : formations) others.push_back(in_one_block(formation));
    return answer(traffic, in_one_block(own), others);
}

}  // namespace

RingLayout Topology::ring(std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups) const {
    return beside(*this, members, groups, [](auto& traffic, const auto& own, const auto& others) { return traffic.ring(own, others); });
}

Bandwidth Topology::all_to_all_bandwidth(std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups) const {
    return beside(*this, members, groups,
                  [](auto& traffic, const auto& own, const auto& others) { return traffic.all_to_all_bandwidth(own, others); });
}

GroupTraffic::GroupTraffic(const Topology& topology) : GroupTraffic(topology, whole(topology)) {}

std::vector<LinkLoad> GroupTraffic::ring_loads(std::span<const DeviceIndex> members) {
    const Formation own = form({members.begin(), members.end()});
    return ring_loads(in_one_block(own), only_block);
}

std::vector<LinkLoad> GroupTraffic::all_to_all_loads(std::span<const DeviceIndex> members) {
    const Formation own = form({members.begin(), members.end()});
    return all_to_all_loads(in_one_block(own), only_block);
}

}  // namespace sextant
