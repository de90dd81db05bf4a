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
    AllToAll(const Topology::Graph& graph, int block_devices, LinkLoads& loads)
        : g_(graph), block_devices_(block_devices), loads_(loads), leaves_(graph.leaves > 1 ? graph.leaves : 0) {}

    void add(const SpreadGroup& group) {
        if (group.size() < 2) return;
        const Nodes nodes = reach(group, block_devices_ / g_.devices);
        if (loads_.passes_over(nodes)) return add_to_leaf(group, g_.leaf_group[nodes.begin]);
        add_blocks(group);
        between_leaves();
    }

private:
    // What a group inside one leaf sends up is what rounding leaves of nothing. It is the same for all of its formation.
    void add_to_leaf(const SpreadGroup& group, int leaf) {
        if (g_.leaves < 2 || g_.dragonfly) return;
        const auto [up, is_new] = up_.try_emplace({group.formation, group.shifts.size()});
        if (is_new) {
            add_blocks(group);
            up->second = up_from(leaves_[leaf]);
            forget_leaves();
        }
        send_up(leaf, up->second);
    }

    void add_blocks(const SpreadGroup& group) {
        per_pair_ = 1.0 / static_cast<double>(group.size() - 1);
        for (const int shift : group.shifts) {
            const DeviceIndex begin = (group.first + shift) * block_devices_;
            for (const Formation::Part& part : group.formation->parts) {
                const bool counted = loads_.counts_node_of(part.devices.front() + begin);
                if (counted) inside(part, begin);
                if (part.devices.size() == group.size()) continue;
                const double sent = static_cast<double>(group.size() - part.devices.size()) * per_pair_;
                if (counted) to_nics(part, begin, sent);
                if (g_.leaves > 1) to_leaves(part, begin, sent);
            }
        }
    }

    void inside(const Formation::Part& part, DeviceIndex begin) {
        if (part.on_switch) {
            const double sent = static_cast<double>(part.devices.size() - 1) * per_pair_;
            for (const DeviceIndex d : part.devices) {
                loads_.add(g_.port(d + begin), sent);
                loads_.add(g_.port(d + begin) ^ 1, sent);
            }
            return;
        }
        for (const DeviceIndex a : part.devices) {
            for (const DeviceIndex b : part.devices) {
                Route route;
                g_.route(a + begin, b + begin, route);
                loads_.add(route, per_pair_);
            }
        }
    }

    // Each member of the part sends `sent` through its NICs and receives as much.
    void to_nics(const Formation::Part& part, DeviceIndex begin, double sent) {
        for (const Formation::Way& way : part.ways) {
            const DeviceIndex d = way.device + begin;
            const int port = g_.node_of(d) * g_.node_links + g_.nic_port[way.nic];
            Route host;
            host.through_host = g_.network_staged;
            g_.device_to_nic(d, way.nic, host);
            g_.nic_to_device(way.nic, d, host);
            loads_.add(host, sent * way.share);
            loads_.add(port, sent * way.share);
            loads_.add(port ^ 1, sent * way.share);
        }
    }

    void to_leaves(const Formation::Part& part, DeviceIndex begin, double sent) {
        const int first_node = g_.node_of(begin);
        touched_.clear();
        for (const Formation::Way& way : part.ways) {
            const int leaf = g_.leaf_of(first_node + way.node, way.nic);
            LeafTraffic& traffic = leaves_[leaf];
            if (traffic.members == 0) used_.push_back(leaf);
            if (traffic.unit_members == 0) touched_.push_back(leaf);
            traffic.unit_members += way.share;
            traffic.members += way.share;
            traffic.network += sent * way.share;
        }
        for (const int leaf : touched_) {
            LeafTraffic& traffic = leaves_[leaf];
            traffic.same_unit += traffic.unit_members * traffic.unit_members;
            traffic.unit_members = 0;
        }
    }

    // What members at a leaf send to others at the same leaf turns round there; the rest goes up.
    [[nodiscard]] double up_from(const LeafTraffic& traffic) const {
        const double turned = (traffic.members * traffic.members - traffic.same_unit) * per_pair_;
        return std::max(0.0, traffic.network - turned);
    }
    void send_up(int leaf, double up) {
        if (up == 0) return;
        loads_.add(g_.leaf_to_spine(leaf), up);
        loads_.add(g_.leaf_to_spine(leaf) ^ 1, up);
    }

    void between_leaves() {
        std::ranges::sort(used_);
        for (const int leaf : used_) {
            if (!g_.dragonfly) {
                send_up(leaf, up_from(leaves_[leaf]));
                continue;
            }
            for (const int other : used_)
                if (other != leaf) loads_.add(g_.leaf_to_leaf(leaf, other), leaves_[leaf].members * leaves_[other].members * per_pair_);
        }
        forget_leaves();
    }
    void forget_leaves() {
        for (const int leaf : used_) leaves_[leaf] = {};
        used_.clear();
    }

    const Topology::Graph& g_;
    int block_devices_;
    LinkLoads& loads_;
    double per_pair_ = 0;
    std::vector<LeafTraffic> leaves_;
    std::map<std::pair<const Formation*, std::size_t>, double> up_;
    std::vector<int> used_, touched_;  // leaves of the group, and of the part at hand
};

}  // namespace

Bandwidth GroupTraffic::all_to_all_bandwidth(const SpreadGroup& own, std::span<const SpreadGroup> others) {
    count_first_blocks_of(own);
    AllToAll traffic(graph_, block_devices_, *loads_);
    traffic.add(own);
    loads_->end_of_own();
    for (const SpreadGroup& other : others) traffic.add(other);
    return loads_->limit().bandwidth;
}

std::vector<LinkLoad> GroupTraffic::all_to_all_loads(const SpreadGroup& group, int block) {
    count_on(block);
    AllToAll(graph_, block_devices_, *loads_).add(group);
    return loads_->all();
}

}  // namespace sextant
