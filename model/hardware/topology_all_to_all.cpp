// All-to-all: every member sends equally to every other. Pairs are routed one by one inside a node; what leaves it is counted by
// leaf, not by pair, so that thousands of members cost no more than their number.
#include "model/hardware/topology_graph.hpp"

#include <algorithm>
#include <map>

namespace sextant {
namespace {

// What leaves and enters one leaf, in units of what a member sends.
struct LeafTraffic {
    double members = 0;       // of the group, by the share of their NICs that meet here
    double network = 0;       // sent into the network by them
    double same_unit = 0;     // sum over units of (members of the unit here) squared: these pairs do not use the network
    double unit_members = 0;  // of the unit at hand
};

class AllToAll {
public:
    AllToAll(const Topology::Graph& graph, LinkLoads& loads) : g_(graph), loads_(loads) {}

    void add(std::span<const DeviceIndex> members) {
        if (members.size() < 2) return;
        std::vector<DeviceIndex> sorted(members.begin(), members.end());
        std::ranges::sort(sorted);
        per_pair_ = 1.0 / static_cast<double>(sorted.size() - 1);
        leaves_.clear();
        for (const auto unit : split_by_unit(sorted, g_.unit())) {
            inside(unit);
            if (unit.size() < sorted.size()) into_network(unit, static_cast<double>(sorted.size() - unit.size()) * per_pair_);
        }
        if (g_.leaves > 1) between_leaves();
    }

private:
    void inside(std::span<const DeviceIndex> unit) {
        if (std::ranges::all_of(unit, [&](DeviceIndex d) { return g_.same_peer_switch(d, unit.front()); })) {
            const double sent = static_cast<double>(unit.size() - 1) * per_pair_;
            if (sent == 0) return;
            for (const DeviceIndex d : unit) {
                loads_.add(g_.port(d), sent);
                loads_.add(g_.port(d) ^ 1, sent);
            }
            return;
        }
        for (const DeviceIndex a : unit) {
            for (const DeviceIndex b : unit) {
                Route route;
                g_.route(a, b, route);
                loads_.add(route, per_pair_);
            }
        }
    }

    // Each member of the unit sends `sent` through its NICs and receives as much.
    void into_network(std::span<const DeviceIndex> unit, double sent) {
        std::vector<int> touched;
        for (const DeviceIndex d : unit) {
            const auto& nics = g_.nics_of[g_.local(d)];
            const double share = 1.0 / static_cast<double>(nics.size());
            const int base = g_.node_of(d) * g_.node_links;
            for (const int nic : nics) {
                Route host;
                host.through_host = g_.network_staged;
                g_.device_to_nic(d, nic, host);
                g_.nic_to_device(nic, d, host);
                loads_.add(host, sent * share);
                loads_.add(base + g_.nic_port[nic], sent * share);
                loads_.add((base + g_.nic_port[nic]) ^ 1, sent * share);
                const int leaf = g_.leaf_of(g_.node_of(d), nic);
                LeafTraffic& traffic = leaves_[leaf];
                if (traffic.unit_members == 0) touched.push_back(leaf);
                traffic.unit_members += share;
                traffic.members += share;
                traffic.network += sent * share;
            }
        }
        for (const int leaf : touched) {
            LeafTraffic& traffic = leaves_[leaf];
            traffic.same_unit += traffic.unit_members * traffic.unit_members;
            traffic.unit_members = 0;
        }
    }

    // Of what the members at a leaf send, the part for others at the same leaf turns round there; the rest goes up.
    void between_leaves() {
        for (const auto& [leaf, traffic] : leaves_) {
            if (g_.dragonfly) {
                for (const auto& [other, there] : leaves_)
                    if (other != leaf) loads_.add(g_.leaf_to_leaf(leaf, other), traffic.members * there.members * per_pair_);
                continue;
            }
            const double turned = (traffic.members * traffic.members - traffic.same_unit) * per_pair_;
            const double up = std::max(0.0, traffic.network - turned);
            if (up == 0) continue;
            loads_.add(g_.leaf_to_spine(leaf), up);
            loads_.add(g_.leaf_to_spine(leaf) ^ 1, up);
        }
    }

    const Topology::Graph& g_;
    LinkLoads& loads_;
    double per_pair_ = 0;
    std::map<int, LeafTraffic> leaves_;
};

}  // namespace

Bandwidth Topology::all_to_all_bandwidth(std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups) const {
    LinkLoads loads(*graph_);
    AllToAll traffic(*graph_, loads);
    traffic.add(members);
    loads.end_of_own();
    for (const auto other : other_groups(members, groups)) traffic.add(other);
    return loads.limit().bandwidth;
}

std::vector<LinkLoad> Topology::all_to_all_loads(std::span<const DeviceIndex> members) const {
    LinkLoads loads(*graph_);
    AllToAll(*graph_, loads).add(members);
    return loads.own();
}

}  // namespace sextant
