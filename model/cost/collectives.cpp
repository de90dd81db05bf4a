#include "model/cost/collectives.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

struct Call {
    Bytes size;
    const Group& group;
    const CommunicationLibrary& library;
    LinkScale scale;
    double n, nodes;

    [[nodiscard]] Seconds step(const Sourced<Seconds> (&by_hop)[3], double inside, double across) const {
        const Seconds in = by_hop[static_cast<std::size_t>(group.hop)].value;
        // The library's constants hold for the networks of its day; a slower wire is felt in full.
        const Seconds out = max(by_hop[static_cast<std::size_t>(Hop::network)].value, group.wire_latency);
        return (inside * in + across * out) / scale.latency;
    }
    // One pass around the ring: n - 1 hops, of which one per node leaves the node.
    [[nodiscard]] Seconds ring_pass(const Protocol& p) const {
        const double across = nodes > 1 ? nodes : 0;
        return step(p.ring_step, std::max(n - 1 - across, 0.0), std::min(across, n - 1));
    }
    // From a leaf to the root: along the ranks of a node, then up a binary tree over nodes.
    [[nodiscard]] Seconds tree_pass(const Protocol& p) const {
        const double levels = nodes > 1 ? std::ceil(std::log2(nodes)) : 0;
        return step(p.tree_step, std::ceil(n / nodes) - 1, levels);
    }
    [[nodiscard]] CollectivePrice price(const Protocol& p, Seconds steps, Bytes bytes, Pattern pattern) const {
        return {p.base.value / scale.latency + steps, bytes, pattern, p.bandwidth_fraction.value * scale.bandwidth};
    }

    [[nodiscard]] CollectivePrice ring_all_reduce(const Protocol& p) const {
        return price(p, 2.0 * ring_pass(p), 2 * (n - 1) / n * size, Pattern::ring);
    }
    [[nodiscard]] CollectivePrice tree_all_reduce(const Protocol& p) const {
        CollectivePrice tree = price(p, 2.0 * tree_pass(p), 2.0 * size, Pattern::ring);
        tree.efficiency *= library.tree_bandwidth_fraction.value;
        return tree;
    }
    [[nodiscard]] CollectivePrice in_switch_all_reduce() const {
        const Seconds steps = library.protocols.front().base.value + library.in_switch_step.value;
        return {steps / scale.latency, size, Pattern::ring, library.in_switch_bandwidth_fraction.value * scale.bandwidth};
    }
    [[nodiscard]] CollectivePrice one_way(const Protocol& p) const { return price(p, ring_pass(p), (n - 1) / n * size, Pattern::ring); }
    [[nodiscard]] CollectivePrice chain(const Protocol& p) const { return price(p, ring_pass(p), size, Pattern::ring); }
    [[nodiscard]] CollectivePrice send(const Protocol& p) const {
        const bool across = group.crosses_network;
        return price(p, step(p.ring_step, across ? 0 : 1, across ? 1 : 0), size, Pattern::path);
    }
    [[nodiscard]] CollectivePrice all_to_all(const Protocol& p) const {
        // Messages to all peers are posted together: the first pays the step, the others a share of posting it.
        constexpr double posting_share = 0.1;
        const double inside = std::ceil(n / nodes) - 1;
        const double across = n - 1 - inside;
        const auto posted = [](double messages) { return messages > 0 ? 1 + posting_share * (messages - 1) : 0; };
        return price(p, step(p.ring_step, posted(inside), posted(across)), (n - 1) / n * size, Pattern::all_to_all);
    }
    [[nodiscard]] CollectivePrice by_protocol(Collective what, const Protocol& p) const {
        switch (what) {
            case Collective::all_reduce:
                return ring_all_reduce(p);
            case Collective::all_gather:
            case Collective::reduce_scatter:
                return one_way(p);
            case Collective::broadcast:
            case Collective::reduce:
                return chain(p);
            case Collective::send:
                return send(p);
            case Collective::all_to_all:
                break;
        }
        return all_to_all(p);
    }
};

// What the host's cores add to a call whose reductions run there.
Seconds host_time(Collective what, Bytes size, const Group& group, const CommunicationLibrary& library) {
    const bool reduces = what == Collective::all_reduce || what == Collective::reduce_scatter || what == Collective::reduce;
    if (!reduces || !library.host_reduction) return {};
    const double n = group.ranks;
    Seconds t = (n - 1) / n * size / library.host_reduction->value;
    if (library.host_staging && !group.host_buffers) t += 2.0 * size / library.host_staging->value;
    return t;
}

}  // namespace

std::string_view to_text(Collective c) {
    switch (c) {
        case Collective::all_reduce:
            return "all_reduce";
        case Collective::all_gather:
            return "all_gather";
        case Collective::reduce_scatter:
            return "reduce_scatter";
        case Collective::all_to_all:
            return "all_to_all";
        case Collective::broadcast:
            return "broadcast";
        case Collective::reduce:
            return "reduce";
        case Collective::send:
            return "send";
    }
    return "all_reduce";
}

Group make_group(const Topology& topology, std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups,
                 bool in_switch_reduction) {
    if (members.size() < 2) return {};
    std::vector<int> nodes;
    for (const DeviceIndex d : members) nodes.push_back(d / topology.devices_per_node());
    std::sort(nodes.begin(), nodes.end());
    return make_group(topology, static_cast<int>(members.size()), static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin()),
                      topology.ring(members, groups), topology.all_to_all_bandwidth(members, groups), in_switch_reduction);
}

Group make_group(const Topology& topology, int ranks, int nodes, const RingLayout& ring, Bandwidth all_to_all, bool in_switch_reduction) {
    Group g;
    g.ranks = ranks;
    g.nodes = nodes;
    g.ring = ring.bandwidth;
    g.wire_latency = ring.step_latency;
    g.crosses_network = ring.network_hops > 0;
    g.through_host = ring.host_hops > 0;
    g.all_to_all = all_to_all;
    const TransferPath neighbour = topology.path(ring.order[0], ring.order[1]);
    const bool over_nvlink =
        !neighbour.links.empty() && topology.links()[static_cast<std::size_t>(neighbour.links.front())].category == LinkCategory::nvlink;
    g.hop = over_nvlink || (neighbour.crosses_network && ring.bottleneck == LinkCategory::nvlink) ? Hop::nvlink : Hop::pcie;
    g.host_buffers =
        !neighbour.links.empty() && topology.links()[static_cast<std::size_t>(neighbour.links.front())].category == LinkCategory::memory;
    g.in_switch = in_switch_reduction && !g.crosses_network;
    return g;
}

Seconds time_alone(const CollectivePrice& price, const Group& group) {
    if (!(price.bytes > Bytes{})) return price.fixed;
    const Bandwidth links = price.pattern == Pattern::all_to_all ? group.all_to_all : group.ring;
    return price.fixed + price.bytes / (links * price.efficiency);
}

CollectivePrice collective_price(Collective what, Bytes size, const Group& group, const CommunicationLibrary& library, LinkScale scale) {
    if (group.ranks < 2 || !(size > Bytes{})) return {};
    const Call call{size, group, library, scale, static_cast<double>(group.ranks), static_cast<double>(group.nodes)};
    CollectivePrice best;
    Seconds least = best.fixed = Seconds::from_si(INFINITY);
    const auto offer = [&](const CollectivePrice& price) {
        if (const Seconds time = time_alone(price, group); time < least) best = price, least = time;
    };
    for (const Protocol& p : library.protocols) {
        if (p.up_to && size > *p.up_to) continue;
        offer(call.by_protocol(what, p));
        if (what == Collective::all_reduce && library.tree) offer(call.tree_all_reduce(p));
    }
    if (what == Collective::all_reduce && group.in_switch && library.in_switch_reduction && !library.protocols.empty())
        offer(call.in_switch_all_reduce());
    best.fixed += host_time(what, size, group, library);
    return best;
}

Seconds collective_time(Collective what, Bytes size, const Group& group, const CommunicationLibrary& library, LinkScale scale) {
    return time_alone(collective_price(what, size, group, library, scale), group);
}

}  // namespace sextant
