#include "model/cost/collectives.hpp"

#include "model/base/enum_array.hpp"
#include "model/base/enum_names.hpp"
#include "model/cost/message_passing.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr int collective_count = static_cast<int>(Collective::send) + 1;

// How much a connection has on its way, and in how many slots (NCCL's NCCL_BUFFSIZE and NCCL_STEPS).
constexpr Bytes buffer = 4 * units::MiB;
constexpr double slots = 8;

struct Call {
    Bytes size;
    const Group& group;
    const CommunicationLibrary& library;
    LinkScale scale;
    double n, nodes;
    double gain = ring_gain(group, scale);
    [[nodiscard]] double gain_of(Pattern pattern) const {
        if (pattern != Pattern::all_to_all) return gain;
        return group.crosses_network ? scale.across : scale.inside;  // each rank's messages to other nodes take longest
    }

    // A step over the network was measured on some wire; a slower one is felt in what it is slower.
    // A message that the receiver has to ask for waits a round trip more.
    [[nodiscard]] Seconds over_network(Seconds step, Bytes message) const {
        const Seconds included = library.wire_in_step ? library.wire_in_step->value : step;
        const bool asked_for = group.machine.eager_limit && message > *group.machine.eager_limit;
        return step + max(group.wire_latency - included, Seconds{}) + (asked_for ? 2.0 * group.wire_latency : Seconds{});
    }
    // Steps inside a node and across the network, in which a rank sends `message`.
    [[nodiscard]] Seconds step(const Sourced<Seconds> (&by_hop)[3], double inside, double across, Bytes message) const {
        const Seconds in = by_hop[static_cast<std::size_t>(group.hop)].value;
        const Seconds out = over_network(by_hop[static_cast<std::size_t>(Hop::network)].value, message);
        return (inside * group.machine.call_step * in + across * out) / scale.latency;
    }
    // That of protocols whose words bring flags along depends on the device; Simple's is that of its chunks.
    [[nodiscard]] Seconds start(const Protocol& p) const { return (p.needs_order ? group.machine.call_start : 1) * p.base.value; }
    // One pass around the ring: n - 1 hops, of which one per node leaves the node.
    [[nodiscard]] Seconds ring_pass(const Protocol& p) const {
        const double across = nodes > 1 ? nodes : 0;
        return step(p.ring_step, std::max(n - 1 - across, 0.0), std::min(across, n - 1), size / n);
    }
    // From a leaf to the root: along the ranks of a node, then up a binary tree over nodes.
    [[nodiscard]] Seconds tree_pass(const Protocol& p) const { return step(p.tree_step, std::ceil(n / nodes) - 1, levels(), size / 2.0); }
    [[nodiscard]] double levels() const { return nodes > 1 ? std::ceil(std::log2(nodes)) : 0; }
    // What a node sends in a double tree over nodes, in buffers: in each tree half a buffer to its parent and to each child. Two nodes
    // are parent and child of one tree and the other way round in the other; of three, one has two neighbours in both or a parent in one.
    [[nodiscard]] double tree_load() const { return nodes == 2 && library.tree_of_two_nodes ? 1 : nodes == 3 ? 1.5 : 2; }
    // How much slower the links inside a node are than the ring's slowest: below 1 where the network limits it.
    [[nodiscard]] double ring_over_inside() const { return group.ring / group.inside * (gain / scale.inside); }

    // `parts`: into how many the buffer is cut, of which each rank works on one at a time. `inside`: what a rank passes on inside a node
    // for each byte of `bytes`.
    [[nodiscard]] CollectivePrice price(const Protocol& p, Seconds steps, Bytes bytes, Pattern pattern, double parts,
                                        double inside = 1) const {
        CollectivePrice call{start(p) / scale.latency + steps, bytes, pattern, p.bandwidth_fraction.value};
        const double slower_inside = inside * ring_over_inside();
        if (p.inside_fraction) call.efficiency = std::min(call.efficiency, p.inside_fraction->value / slower_inside);
        if (group.staged_inside && library.staged_fraction)
            call.efficiency *= std::min(1.0, library.staged_fraction->value / slower_inside);
        call.efficiency *= gain_of(pattern);
        if (p.channel_bandwidth.value > Bandwidth{})
            call.fixed += bytes * std::min(1.0, parts * p.channel_bytes / size) / (p.channel_bandwidth.value * gain_of(pattern));
        if (p.channel_start && library.channel_rate > Bandwidth{})
            call.fixed += std::ceil(group.ring / library.channel_rate) * p.channel_start->value / scale.latency;
        return call;
    }
    // The fraction of a tree's bandwidth that its chunks fill, interpolated between the sizes that are powers of two.
    [[nodiscard]] double tree_fill(const Protocol& p) const {
        if (p.tree_fill.empty()) return 1;
        const double at = std::clamp(std::log2(size / (64 * units::B)), 0.0, static_cast<double>(p.tree_fill.size() - 1));
        const auto below = static_cast<std::size_t>(at), above = std::min(below + 1, p.tree_fill.size() - 1);
        return std::lerp(p.tree_fill[below], p.tree_fill[above], at - std::floor(at));
    }

    [[nodiscard]] CollectivePrice ring_all_reduce(const Protocol& p) const {
        return price(p, 2.0 * ring_pass(p), 2 * (n - 1) / n * size, Pattern::ring, n);
    }
    [[nodiscard]] CollectivePrice tree_all_reduce(const Protocol& p) const {
        const double load = nodes > 1 ? std::max(tree_load(), 2 * ring_over_inside()) : 2;
        CollectivePrice tree = price(p, 2.0 * tree_pass(p), load * size, Pattern::ring, 1, 2 / load);
        tree.efficiency *= library.tree_bandwidth_fraction.value * tree_fill(p);
        return tree;
    }
    [[nodiscard]] CollectivePrice in_switch_all_reduce() const {
        const Seconds steps = start(library.protocols.front()) + library.in_switch_step.value;
        return {steps / scale.latency, size, Pattern::ring, library.in_switch_bandwidth_fraction.value * gain};
    }
    // The switch of each node adds, and trees join the nodes: the slower of the two passes bytes on.
    [[nodiscard]] CollectivePrice in_switch_tree_all_reduce() const {
        const Seconds steps = start(library.protocols.front()) + library.in_switch_step.value;
        const double load = std::max(tree_load(), ring_over_inside() / library.in_switch_bandwidth_fraction.value);
        return {steps / scale.latency + 2.0 * step(library.protocols.back().tree_step, 0, levels(), size / 2.0), load * size, Pattern::ring,
                gain * tree_fill(library.protocols.back())};
    }
    [[nodiscard]] CollectivePrice one_way(const Protocol& p) const { return price(p, ring_pass(p), (n - 1) / n * size, Pattern::ring, n); }
    [[nodiscard]] CollectivePrice chain(const Protocol& p) const {
        const bool follows = library.chains_follow && (!group.crosses_network || size <= n * p.channel_bytes);
        const Seconds steps = follows ? one_step(p, size / n) / slots : ring_pass(p);
        return price(p, steps + (library.chains_follow ? filling() : Seconds{}), size, Pattern::ring, n);
    }
    // Inside a node a rank hands on what has come of a chunk; what sends over the network waits for all of it. So a chain is full when a
    // first chunk of each channel has crossed it, one node after another.
    [[nodiscard]] Seconds filling() const {
        if (!group.crosses_network || !(library.channel_rate > Bandwidth{})) return {};
        const double channels = 2 * std::ceil(group.across / library.channel_rate);  // NCCL doubles its rings (connect.cc)
        return (nodes - 1) * min(size, channels / slots * buffer) / (group.across * scale.across);
    }
    [[nodiscard]] CollectivePrice send(const Protocol& p) const { return price(p, one_step(p, size), size, Pattern::path, 1); }
    [[nodiscard]] Seconds one_step(const Protocol& p, Bytes message) const {
        return step(p.ring_step, group.crosses_network ? 0 : 1, group.crosses_network ? 1 : 0, message);
    }
    [[nodiscard]] CollectivePrice all_to_all(const Protocol& p) const {
        // Messages to all peers are posted together: the first pays the step, the others a share of posting it.
        constexpr double posting_share = 0.1;
        const double inside = std::ceil(n / nodes) - 1;
        const double across = n - 1 - inside;
        const auto posted = [](double messages) { return messages > 0 ? 1 + posting_share * (messages - 1) : 0; };
        return price(p, step(p.ring_step, posted(inside), posted(across), size / n), (n - 1) / n * size, Pattern::all_to_all, n);
    }
    [[nodiscard]] CollectivePrice by_protocol(Collective what, const Protocol& p) const {
        switch (what) {
            case Collective::all_reduce: return ring_all_reduce(p);
            case Collective::all_gather:
            case Collective::reduce_scatter: return one_way(p);
            case Collective::broadcast:
            case Collective::reduce: return chain(p);
            case Collective::send: return send(p);
            case Collective::all_to_all: break;
        }
        return all_to_all(p);
    }
};

// The part of a ring over several nodes that is in its first node, as a ring of its own: hops over PCIe and through host memory share the
// host's links, so that they get less than each would alone.
RingLayout ring_in_a_node(const Topology& topology, const RingLayout& ring) {
    const auto node_of = [&](DeviceIndex d) { return d / topology.devices_per_node(); };
    const auto next = std::ranges::find_if(ring.order, [&](DeviceIndex d) { return node_of(d) != node_of(ring.order.front()); });
    return topology.ring(std::span(ring.order.begin(), next), {});
}

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
    static constexpr std::string_view names[collective_count] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
                                                                 "reduce",     "send"};
    return names[static_cast<std::size_t>(c)];
}

std::optional<Collective> find_collective(std::string_view name) {
    return enumerator_named(name, enumerators<Collective, collective_count>());
}

GroupMachine group_machine(const Cluster& c) {
    GroupMachine m{c.node.peers.in_switch_reduction, c.node.nic_link.ordered, *c.node.host.memory_bandwidth, {}};
    if (const auto& limit = c.node.nic_link.eager_limit) m.eager_limit = limit->value;
    if (const auto& start = c.node.device.call_start) m.call_start = start->value;
    if (const auto& step = c.node.device.call_step) m.call_step = step->value;
    return m;
}

Group make_group(const Topology& topology, std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups,
                 const GroupMachine& machine) {
    if (members.size() < 2) return {};
    std::vector<int> nodes;
    for (const DeviceIndex d : members) nodes.push_back(d / topology.devices_per_node());
    std::sort(nodes.begin(), nodes.end());
    return make_group(topology, static_cast<int>(members.size()), static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin()),
                      topology.ring(members, groups), topology.all_to_all_bandwidth(members, groups), machine);
}

Group make_group(const Topology& topology, int ranks, int nodes, const RingLayout& ring, Bandwidth all_to_all,
                 const GroupMachine& machine) {
    Group g;
    g.ranks = ranks;
    g.nodes = nodes;
    g.ring = ring.bandwidth;
    g.across = ring.over_network;
    g.wire_latency = ring.step_latency;
    g.crosses_network = ring.network_hops > 0;
    g.through_host = ring.host_hops > 0;
    g.all_to_all = all_to_all;
    g.machine = machine;
    const TransferPath neighbour = topology.path(ring.order[0], ring.order[1]);
    if (!g.crosses_network) {
        g.inside = g.ring;
        g.staged_inside = g.through_host;
    } else if (!neighbour.crosses_network) {
        const RingLayout in_a_node = ring_in_a_node(topology, ring);
        g.inside = max(in_a_node.bandwidth, g.ring);
        g.staged_inside = in_a_node.host_hops > 0;
    }
    const auto first_link_is = [&](LinkCategory category) {
        return !neighbour.links.empty() && topology.links()[static_cast<std::size_t>(neighbour.links.front())].category == category;
    };
    const bool over_nvlink = first_link_is(LinkCategory::nvlink);
    g.hop = over_nvlink || (neighbour.crosses_network && ring.bottleneck == LinkCategory::nvlink) ? Hop::nvlink : Hop::pcie;
    g.host_buffers = first_link_is(LinkCategory::memory);
    g.in_switch = machine.in_switch_reduction && !g.crosses_network;
    g.in_node_switch = machine.in_switch_reduction && g.crosses_network && over_nvlink;
    return g;
}

Group group_of_call(Collective what, const Topology& topology, std::span<const DeviceIndex> members, const GroupMachine& machine) {
    const std::vector<std::vector<DeviceIndex>> alone{{members.begin(), members.end()}};
    Group g = make_group(topology, members, alone, machine);
    if (what != Collective::send) return g;
    for (std::size_t i = 0; i < members.size(); ++i)
        if (const DeviceIndex next = members[(i + 1) % members.size()]; next != members[i])
            g.ring = min(g.ring, topology.path(members[i], next).bottleneck);
    return g;
}

double ring_gain(const Group& group, LinkScale scale) {
    if (scale.inside == scale.across) return scale.inside;
    const Bandwidth now = min(group.inside, group.across);
    if (std::isinf(now.si())) return group.crosses_network ? scale.across : scale.inside;
    return min(group.inside * scale.inside, group.across * scale.across) / now;
}

Seconds time_alone(const CollectivePrice& price, const Group& group) {
    if (!(price.bytes > Bytes{})) return price.fixed;
    const Bandwidth links = price.pattern == Pattern::all_to_all ? group.all_to_all : group.ring;
    return price.fixed + price.bytes / (links * price.efficiency);
}

CollectivePrice collective_price(Collective what, Bytes size, const Group& group, const CommunicationLibrary& library, LinkScale scale) {
    if (group.ranks < 2 || !(size > Bytes{})) return {};
    if (library.messages)
        if (const auto price = message_price(what, size, group, *library.messages, scale)) return *price;
    const Call call{size, group, library, scale, static_cast<double>(group.ranks), static_cast<double>(group.nodes)};
    CollectivePrice best;
    Seconds least = best.fixed = Seconds::from_si(INFINITY);
    const auto offer = [&](const CollectivePrice& price) {
        if (const Seconds time = time_alone(price, group); time < least) {
            best = price;
            least = time;
        }
    };
    const bool out_of_order = group.crosses_network && !group.machine.ordered_network;
    for (const Protocol& p : library.protocols) {
        if ((p.up_to && size > *p.up_to) || (p.needs_order && out_of_order)) continue;
        offer(call.by_protocol(what, p));
        if (what == Collective::all_reduce && library.tree) offer(call.tree_all_reduce(p));
    }
    if (what == Collective::all_reduce && library.in_switch_reduction && !library.protocols.empty()) {
        if (group.in_switch) offer(call.in_switch_all_reduce());
        if (group.in_node_switch && library.in_switch_tree && !out_of_order) offer(call.in_switch_tree_all_reduce());
    }
    best.fixed += host_time(what, size, group, library);
    return best;
}

Seconds collective_time(Collective what, Bytes size, const Group& group, const CommunicationLibrary& library, LinkScale scale) {
    return time_alone(collective_price(what, size, group, library, scale), group);
}

}  // namespace sextant
