// Rings over any set of devices: direct links where they close a ring, else PCIe, and one ring per NIC between nodes.
#include "model/hardware/ring_packing.hpp"
#include "model/hardware/topology_graph.hpp"

#include <algorithm>
#include <map>

namespace sextant {
namespace {

// The part of a ring inside one unit: a node, or the nodes on one peer switch.
struct Part {
    std::vector<DeviceIndex> order;
    bool closed = false;  // a ring of its own runs over direct links or a peer switch (or there is but one member)
};

// Where a ring enters and leaves a part: at this place of its order, through this NIC.
struct Gate {
    std::size_t place = 0;
    int nic = 0;
};

// Lays the rings of one group after another and adds up what crosses each link.
class RingPlanner {
public:
    RingPlanner(const Topology::Graph& graph, LinkLoads& loads) : g_(graph), loads_(loads) {}

    RingLayout lay(std::span<const DeviceIndex> members) {
        std::vector<DeviceIndex> sorted(members.begin(), members.end());
        std::ranges::sort(sorted);
        RingLayout ring;
        std::vector<Part> parts;
        for (const auto unit : split_by_unit(sorted, g_.unit())) parts.push_back(lay_part(unit, ring));
        if (parts.size() == 1)
            close_alone(parts.front(), ring);
        else if (parts.size() > 1)
            join(parts, ring);
        for (const Part& part : parts) ring.order.insert(ring.order.end(), part.order.begin(), part.order.end());
        return ring;
    }

private:
    // Loads the direct links, where a ring over them exists. What else it takes is known only with the other parts.
    Part lay_part(std::span<const DeviceIndex> unit, RingLayout& ring) {
        Part part{{unit.begin(), unit.end()}, unit.size() == 1};
        if (part.closed) return part;
        if (std::ranges::all_of(unit, [&](DeviceIndex d) { return g_.same_peer_switch(d, unit.front()); })) {
            for (const DeviceIndex d : unit) {
                loads_.add(g_.port(d), 1);
                loads_.add(g_.port(d) ^ 1, 1);
            }
            ring.step_latency = max(ring.step_latency, 2 * g_.links[g_.port(unit.front())].latency);
            part.closed = true;
        } else if (const auto& bundle = bundle_of(unit)) {
            load_bundle(unit, *bundle, ring);
            for (std::size_t i = 0; i < unit.size(); ++i) part.order[i] = unit[bundle->order[i]];
            part.closed = true;
        }
        return part;
    }

    const std::optional<RingBundle>& bundle_of(std::span<const DeviceIndex> unit) {
        std::vector<int> locals;
        for (const DeviceIndex d : unit) locals.push_back(g_.local(d));
        const auto [entry, is_new] = bundles_.try_emplace(locals);
        if (is_new && g_.switch_span == 0) {
            std::vector<std::vector<int>> count;
            for (const int a : locals) {
                count.emplace_back();
                for (const int b : locals) count.back().push_back(g_.peer_count[a][b]);
            }
            entry->second = pack_rings(count);
        }
        return entry->second;
    }

    void load_bundle(std::span<const DeviceIndex> unit, const RingBundle& bundle, RingLayout& ring) {
        const int base = g_.node_of(unit.front()) * g_.node_links;
        for (std::size_t a = 0; a < unit.size(); ++a) {
            for (std::size_t b = 0; b < unit.size(); ++b) {
                const double use = bundle.use[a * unit.size() + b];
                if (use == 0) continue;
                const int link = base + g_.peer_link[g_.local(unit[a])][g_.local(unit[b])];
                loads_.add(link, use);
                ring.step_latency = max(ring.step_latency, g_.links[link].latency);
            }
        }
    }

    void close_alone(const Part& part, RingLayout& ring) {
        if (part.closed) return;
        const auto& order = part.order;
        for (std::size_t i = 0; i < order.size(); ++i) hop(order[i], order[(i + 1) % order.size()], 1, true, ring);
    }

    // The NICs that serve the members, each once, with the first member that it serves.
    std::vector<Gate> gates(const Part& part) const {
        std::vector<Gate> gates;
        std::vector<std::pair<int, int>> seen;  // node, NIC
        for (std::size_t i = 0; i < part.order.size(); ++i) {
            for (const int nic : g_.nics_of[g_.local(part.order[i])]) {
                const std::pair key{g_.node_of(part.order[i]), nic};
                if (std::ranges::find(seen, key) != seen.end()) continue;
                seen.push_back(key);
                gates.push_back({i, nic});
            }
        }
        return gates;
    }

    // As many rings as the part with the fewest NICs has, each with an equal share. A ring enters and leaves a part through one NIC.
    // In a closed part it comes back over the direct links to where it entered; in an open one the last member sends to the NIC.
    void join(std::vector<Part>& parts, RingLayout& ring) {
        std::vector<std::vector<Gate>> all;
        std::size_t rings = gates(parts.front()).size();
        for (const Part& part : parts) {
            all.push_back(gates(part));
            rings = std::min(rings, all.back().size());
        }
        const double share = 1.0 / static_cast<double>(rings);
        const auto gate = [&](std::size_t part, std::size_t r) { return all[part][r * all[part].size() / rings]; };
        for (std::size_t r = 0; r < rings; ++r) {
            for (std::size_t p = 0; p < parts.size(); ++p) {
                const std::size_t q = (p + 1) % parts.size();
                const Gate out = gate(p, r), in = gate(q, r);
                const auto& order = parts[p].order;
                if (!parts[p].closed)
                    for (std::size_t i = 0; i + 1 < order.size(); ++i)
                        hop(order[(out.place + i) % order.size()], order[(out.place + i + 1) % order.size()], share, r == 0, ring);
                const DeviceIndex last = order[parts[p].closed ? out.place : (out.place + order.size() - 1) % order.size()];
                route_.links.clear();
                g_.over_network(last, out.nic, parts[q].order[in.place], in.nic, route_);
                count(share, r == 0, ring);
            }
        }
        for (std::size_t p = 0; p < parts.size(); ++p)
            std::rotate(parts[p].order.begin(), parts[p].order.begin() + static_cast<std::ptrdiff_t>(gate(p, 0).place),
                        parts[p].order.end());
    }

    void hop(DeviceIndex from, DeviceIndex to, double weight, bool of_first_ring, RingLayout& ring) {
        route_ = {std::move(route_.links), false, false};
        route_.links.clear();
        g_.route(from, to, route_);
        count(weight, of_first_ring, ring);
    }

    void count(double weight, bool of_first_ring, RingLayout& ring) {
        loads_.add(route_, weight);
        ring.step_latency = max(ring.step_latency, g_.latency(route_));
        if (!of_first_ring) return;
        ring.network_hops += route_.crosses_network ? 1 : 0;
        ring.host_hops += route_.through_host ? 1 : 0;
    }

    const Topology::Graph& g_;
    LinkLoads& loads_;
    std::map<std::vector<int>, std::optional<RingBundle>> bundles_;  // by local devices: nodes are alike
    Route route_;
};

}  // namespace

RingLayout Topology::ring(std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups) const {
    LinkLoads loads(*graph_);
    RingPlanner planner(*graph_, loads);
    RingLayout ring = planner.lay(members);
    loads.end_of_own();
    for (const auto other : other_groups(members, groups)) planner.lay(other);
    const LinkLoads::Limit limit = loads.limit();
    ring.bandwidth = limit.bandwidth;
    ring.bottleneck = limit.category;
    return ring;
}

std::vector<LinkLoad> Topology::ring_loads(std::span<const DeviceIndex> members) const {
    LinkLoads loads(*graph_);
    RingPlanner(*graph_, loads).lay(members);
    return loads.own();
}

}  // namespace sextant
