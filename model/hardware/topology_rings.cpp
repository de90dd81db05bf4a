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
                const std::size_t first = joined ? part.gates.front().place : 0;
                for (std::size_t i = 0; i < part.order.size(); ++i)
                    ring.order.push_back(part.order[(first + i) % part.order.size()] + begin_of(group, block));
            }
        }
        return ring;
    }

    void lay_other(const SpreadGroup& group) {
        if (!loads_.passes_over(reach(group, block_devices_ / g_.devices))) lay(group, nullptr);
    }

private:
    // What becomes of the ring itself is told only where it is asked for.
    void lay(const SpreadGroup& group, RingLayout* ring) {
        const auto& parts = group.formation->parts;
        for (const int shift : group.shifts) {
            const DeviceIndex begin = (group.first + shift) * block_devices_;
            for (const Formation::Part& part : parts)
                if (counts(part.devices.front() + begin)) inside(part, begin, ring);
        }
        if (parts.size() * group.shifts.size() > 1)
            join(group, ring);
        else if (!parts.front().closed())
            close_alone(parts.front().order, begin_of(group, 0), ring);
    }

    [[nodiscard]] DeviceIndex begin_of(const SpreadGroup& group, std::size_t block) const {
        return (group.first + group.shifts[block]) * block_devices_;
    }
    [[nodiscard]] bool counts(DeviceIndex d) const { return loads_.counts_node_of(d); }

    // Loads the direct links, where a ring over them exists. What else it takes is known only with the other parts.
    void inside(const Formation::Part& part, DeviceIndex begin, RingLayout* ring) {
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
        for (std::size_t i = 0; i < order.size(); ++i) hop(order[i] + begin, order[(i + 1) % order.size()] + begin, {1, true, ring});
    }

    // What is counted of one ring.
    struct Counted {
        double share = 1;  // of the bytes, that go this way round
        bool is_first = true;
        RingLayout* layout = nullptr;  // none: only the loads
    };

    // Where one ring passes a part.
    struct Stop {
        const Formation::Part* part = nullptr;
        std::size_t first = 0;  // place at which it enters
        DeviceIndex in = 0, out = 0;
        int in_node = 0, out_node = 0;
        int nic = 0;
    };
    // A ring enters and leaves a part through one NIC. In a closed part it comes back over the direct links to where it entered; in an open
    // one the last member sends to the NIC.
    void find_stops(const Formation& formation, std::size_t ring) {
        stops_.clear();
        for (const Formation::Part& part : formation.parts) {
            const auto [first, nic] = part.gates[ring * part.gates.size() / formation.rings];
            const std::size_t last = part.closed() ? first : (first + part.order.size() - 1) % part.order.size();
            const DeviceIndex in = part.order[first], out = part.order[last];
            stops_.push_back({&part, first, in, out, g_.node_of(in), g_.node_of(out), nic});
        }
    }

    // As many rings as the part with the fewest NICs has, each with an equal share.
    void join(const SpreadGroup& group, RingLayout* ring) {
        const double share = 1.0 / static_cast<double>(group.formation->rings);
        for (std::size_t r = 0; r < group.formation->rings; ++r) {
            const Counted counted{share, r == 0, ring};
            find_stops(*group.formation, r);
            known_.assign(2 * stops_.size(), false);
            for (std::size_t block = 0; block < group.shifts.size(); ++block) {
                const DeviceIndex begin = begin_of(group, block);
                const DeviceIndex next = begin_of(group, block + 1 < group.shifts.size() ? block + 1 : 0);
                for (std::size_t s = 0; s + 1 < stops_.size(); ++s) pass(s, s + 1, begin, begin, counted);
                pass(stops_.size() - 1, 0, begin, next, counted);
            }
        }
    }

    // Through the part of one stop, and over the network to the next one. Hops of one kind, from stop to stop of like blocks, differ only
    // in whether they leave the leaf, and are otherwise equally fast.
    void pass(std::size_t here, std::size_t there, DeviceIndex begin, DeviceIndex next, const Counted& ring) {
        const Stop &from = stops_[here], &to = stops_[there];
        const bool counted = counts(from.out + begin);
        if (counted && !from.part->closed()) pass_through(*from.part, from.first, begin, ring);
        const int leaf = g_.leaf_of(begin / g_.devices + from.out_node, from.nic);
        const int to_leaf = g_.leaf_of(next / g_.devices + to.in_node, to.nic);
        const std::size_t kind = 2 * here + (leaf != to_leaf ? 1 : 0);
        if (counted || counts(to.in + next) || (ring.layout != nullptr && !known_[kind])) {
            route_.links.clear();
            g_.over_network(from.out + begin, from.nic, to.in + next, to.nic, route_);
            count(ring);
            known_[kind] = true;
        } else if (leaf != to_leaf) {
            route_.links.clear();
            route_.through_host = g_.network_staged;
            g_.leaf_to_leaf(leaf, to_leaf, route_);
            loads_.add(route_, ring.share);
        }
    }

    void pass_through(const Formation::Part& part, std::size_t first, DeviceIndex begin, const Counted& ring) {
        const auto at = [&](std::size_t i) { return part.order[(first + i) % part.order.size()] + begin; };
        for (std::size_t i = 0; i + 1 < part.order.size(); ++i) hop(at(i), at(i + 1), ring);
    }

    void hop(DeviceIndex from, DeviceIndex to, const Counted& ring) {
        route_ = {std::move(route_.links), false, false};
        route_.links.clear();
        g_.route(from, to, route_);
        count(ring);
    }

    void count(const Counted& ring) {
        loads_.add(route_, ring.share);
        if (ring.layout == nullptr) return;
        slow_down(ring.layout, g_.latency(route_));
        if (!ring.is_first) return;
        ring.layout->network_hops += route_.crosses_network ? 1 : 0;
        ring.layout->host_hops += route_.through_host ? 1 : 0;
    }

    static void slow_down(RingLayout* ring, Seconds latency) {
        if (ring != nullptr) ring->step_latency = max(ring->step_latency, latency);
    }

    const Topology::Graph& g_;
    int block_devices_;
    LinkLoads& loads_;
    std::vector<Stop> stops_;  // of the ring at hand
    std::vector<bool> known_;  // hops from stops, by whether they leave the leaf: their latency is
    Route route_;
};

}  // namespace

RingLayout GroupTraffic::ring(const SpreadGroup& own, std::span<const SpreadGroup> others) {
    count_first_blocks_of(own);
    RingPlanner planner(graph_, block_devices_, *loads_);
    RingLayout ring = planner.lay_own(own);
    loads_->end_of_own();
    for (const SpreadGroup& other : others) planner.lay_other(other);
    const LinkLoads::Limit limit = loads_->limit();
    ring.bandwidth = limit.bandwidth;
    ring.over_network = limit.of_network;
    ring.bottleneck = limit.category;
    return ring;
}

std::vector<LinkLoad> GroupTraffic::ring_loads(const SpreadGroup& group, int block) {
    count_on(block);
    RingPlanner(graph_, block_devices_, *loads_).lay_other(group);
    return loads_->all();
}

}  // namespace sextant
