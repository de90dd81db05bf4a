// Rings over any set of devices: direct links where they close a ring, else PCIe, and one ring per NIC between nodes.
#include "model/hardware/ring_packing.hpp"
#include "model/hardware/topology_graph.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Lays the rings of one group after another and adds up what crosses each link that is counted.
class RingPlanner {
public:
    RingPlanner(const Topology::Graph& graph, int block_devices, LinkLoads& loads)
        : g_(graph), block_devices_(block_devices), loads_(loads) {}

    RingLayout lay_own(const SpreadGroup& group) {
        RingLayout ring;
        lay(group, &ring);
        const auto& parts = group.formation->parts;
        const bool joined = parts.size() * group.shifts.size() > 1;
        for (std::size_t block = 0; block < std::min<std::size_t>(2, group.shifts.size()); ++block) {
            for (const Formation::Part& part : parts) {
                const std::size_t first = joined ? gate(group, part, 0).place : 0;
                for (std::size_t i = 0; i < part.order.size(); ++i)
                    ring.order.push_back(part.order[(first + i) % part.order.size()] + begin_of(group, block));
            }
        }
        return ring;
    }

    // What becomes of the ring itself is told only to who asks for it.
    void lay(const SpreadGroup& group, RingLayout* ring) {
        const auto& parts = group.formation->parts;
        for (std::size_t block = 0; block < group.shifts.size(); ++block)
            for (const Formation::Part& part : parts) inside(part, begin_of(group, block), ring);
        if (parts.size() * group.shifts.size() > 1)
            join(group, ring);
        else if (!parts.empty() && !parts.front().closed())
            close_alone(parts.front().order, begin_of(group, 0), ring);
    }

private:
    [[nodiscard]] DeviceIndex begin_of(const SpreadGroup& group, std::size_t block) const {
        return (group.first + group.shifts[block]) * block_devices_;
    }
    [[nodiscard]] bool counts(DeviceIndex d) const { return loads_.counts_node(g_.node_of(d)); }

    // Loads the direct links, where a ring over them exists. What else it takes is known only with the other parts.
    void inside(const Formation::Part& part, DeviceIndex begin, RingLayout* ring) {
        if (!counts(part.devices.front() + begin)) return;
        if (part.on_switch) {
            for (const DeviceIndex d : part.devices) {
                loads_.add(g_.port(d + begin), 1);
                loads_.add(g_.port(d + begin) ^ 1, 1);
            }
            slow_down(ring, 2 * g_.links[g_.port(part.devices.front() + begin)].latency);
        } else if (part.bundle != nullptr) {
            load_bundle(part, begin, ring);
        }
    }

    void load_bundle(const Formation::Part& part, DeviceIndex begin, RingLayout* ring) {
        const auto& unit = part.devices;
        const int base = g_.node_of(unit.front() + begin) * g_.node_links;
        for (std::size_t a = 0; a < unit.size(); ++a) {
            for (std::size_t b = 0; b < unit.size(); ++b) {
                const double use = part.bundle->use[a * unit.size() + b];
                if (use == 0) continue;
                const int link = base + g_.peer_link[g_.local(unit[a])][g_.local(unit[b])];
                loads_.add(link, use);
                slow_down(ring, g_.links[link].latency);
            }
        }
    }

    void close_alone(std::span<const DeviceIndex> order, DeviceIndex begin, RingLayout* ring) {
        for (std::size_t i = 0; i < order.size(); ++i) hop(order[i] + begin, order[(i + 1) % order.size()] + begin, 1, true, ring);
    }

    // Of all NICs of the part, those that ring r uses when it is one of as many as the group has.
    static Formation::Gate gate(const SpreadGroup& group, const Formation::Part& part, std::size_t r) {
        return part.gates[r * part.gates.size() / group.formation->rings];
    }

    // As many rings as the part with the fewest NICs has, each with an equal share. A ring enters and leaves a part through one NIC.
    // In a closed part it comes back over the direct links to where it entered; in an open one the last member sends to the NIC.
    void join(const SpreadGroup& group, RingLayout* ring) {
        const auto& parts = group.formation->parts;
        const std::size_t blocks = group.shifts.size(), rings = group.formation->rings;
        const double share = 1.0 / static_cast<double>(rings);
        for (std::size_t r = 0; r < rings; ++r) {
            known_.assign(2 * parts.size(), 0);
            for (std::size_t block = 0; block < blocks; ++block) {
                for (std::size_t p = 0; p < parts.size(); ++p) {
                    const bool last = p + 1 == parts.size();
                    const Formation::Part &here = parts[p], &there = parts[last ? 0 : p + 1];
                    const DeviceIndex begin = begin_of(group, block), next = begin_of(group, last ? (block + 1) % blocks : block);
                    const Formation::Gate out = gate(group, here, r), in = gate(group, there, r);
                    if (!here.closed()) pass_through(here.order, begin, out.place, share, r == 0, ring);
                    const std::size_t exit = here.closed() ? out.place : (out.place + here.order.size() - 1) % here.order.size();
                    cross({here.order[exit] + begin, out.nic}, {there.order[in.place] + next, in.nic}, share, 2 * p, r == 0, ring);
                }
            }
        }
    }

    void pass_through(std::span<const DeviceIndex> order, DeviceIndex begin, std::size_t first, double share, bool of_first_ring,
                      RingLayout* ring) {
        if (!counts(order.front() + begin)) return;
        for (std::size_t i = 0; i + 1 < order.size(); ++i)
            hop(order[(first + i) % order.size()] + begin, order[(first + i + 1) % order.size()] + begin, share, of_first_ring, ring);
    }

    struct End {
        DeviceIndex device = 0;
        int nic = 0;
    };
    // Over the network. Hops of one kind, from part to part of like blocks, differ in whether they leave the leaf: in no other way is one
    // slower than another.
    void cross(End from, End to, double share, std::size_t kind, bool of_first_ring, RingLayout* ring) {
        const int from_node = g_.node_of(from.device), to_node = g_.node_of(to.device);
        const int leaf = g_.leaf_of(from_node, from.nic), to_leaf = g_.leaf_of(to_node, to.nic);
        char* known = ring != nullptr ? &known_[kind + (leaf != to_leaf ? 1 : 0)] : nullptr;
        if (!loads_.counts_node(from_node) && !loads_.counts_node(to_node) && (known == nullptr || *known != 0)) {
            if (leaf == to_leaf) return;
            route_.links.clear();
            g_.leaf_to_leaf(leaf, to_leaf, route_);
            route_.through_host = g_.network_staged;
            loads_.add(route_, share);
            return;
        }
        if (known != nullptr) *known = 1;
        route_.links.clear();
        g_.over_network(from.device, from.nic, to.device, to.nic, route_);
        count(share, of_first_ring, ring);
    }

    void hop(DeviceIndex from, DeviceIndex to, double weight, bool of_first_ring, RingLayout* ring) {
        route_ = {std::move(route_.links), false, false};
        route_.links.clear();
        g_.route(from, to, route_);
        count(weight, of_first_ring, ring);
    }

    void count(double weight, bool of_first_ring, RingLayout* ring) {
        loads_.add(route_, weight);
        if (ring == nullptr) return;
        slow_down(ring, g_.latency(route_));
        if (!of_first_ring) return;
        ring->network_hops += route_.crosses_network ? 1 : 0;
        ring->host_hops += route_.through_host ? 1 : 0;
    }

    static void slow_down(RingLayout* ring, Seconds latency) {
        if (ring != nullptr) ring->step_latency = max(ring->step_latency, latency);
    }

    const Topology::Graph& g_;
    int block_devices_;
    LinkLoads& loads_;
    std::vector<char> known_;  // hops between parts, by part and by whether they leave the leaf: their latency is
    Route route_;
};

}  // namespace

RingLayout GroupTraffic::ring(const SpreadGroup& own, std::span<const SpreadGroup> others) {
    count_first_blocks_of(own);
    RingPlanner planner(graph_, block_devices_, *loads_);
    RingLayout ring = planner.lay_own(own);
    loads_->end_of_own();
    for (const SpreadGroup& other : others) planner.lay(other, nullptr);
    const LinkLoads::Limit limit = loads_->limit();
    ring.bandwidth = limit.bandwidth;
    ring.bottleneck = limit.category;
    return ring;
}

std::vector<LinkLoad> GroupTraffic::ring_loads(const SpreadGroup& group, int block) {
    count_on(block);
    RingPlanner(graph_, block_devices_, *loads_).lay(group, nullptr);
    return loads_->all();
}

}  // namespace sextant
