#include "tests/simulate/reference/rank_network.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Cable c is link 2 c up, from the rank or leaf, and link 2 c + 1 down. Rank r has cable r; a fat tree's uplinks follow, leaf by leaf.
LinkUse up(int cable) { return {static_cast<std::uint32_t>(2 * cable)}; }
LinkUse down(int cable) { return {static_cast<std::uint32_t>(2 * cable + 1)}; }
std::vector<Bandwidth> two_per_cable(int cables, Bandwidth bandwidth) {
    return std::vector<Bandwidth>(2 * static_cast<std::size_t>(cables), bandwidth);
}

}  // namespace

RankNetwork star(int ranks, Wire port) {
    return {two_per_cable(ranks, port.bandwidth), [port](int from, int to) {
                return FlowRoute{.uses = {up(from), down(to)}, .latency = 2 * port.latency};
            }};
}

RankNetwork fat_tree(const FatTree& tree) {
    const int ranks = tree.leaves * tree.ranks_per_leaf;
    auto capacities = two_per_cable(ranks, tree.port.bandwidth);
    const auto uplinks = two_per_cable(tree.leaves * tree.spines, tree.uplink.bandwidth);
    capacities.insert(capacities.end(), uplinks.begin(), uplinks.end());
    return {std::move(capacities), [tree, ranks](int from, int to) {
                const int from_leaf = from / tree.ranks_per_leaf, to_leaf = to / tree.ranks_per_leaf, spine = to % tree.spines;
                if (from_leaf == to_leaf) return FlowRoute{.uses = {up(from), down(to)}, .latency = 2 * tree.port.latency};
                const auto uplink = [&](int leaf) { return ranks + leaf * tree.spines + spine; };
                return FlowRoute{.uses = {up(from), up(uplink(from_leaf)), down(uplink(to_leaf)), down(to)},
                                 .latency = 2 * (tree.port.latency + tree.uplink.latency)};
            }};
}

RankNetwork network_of(const Topology& topology, std::span<const DeviceIndex> members) {
    RankNetwork network;
    for (const TopologyLink& link : topology.links()) network.capacities.push_back(link.bandwidth);
    network.route = [&topology, devices = std::vector(members.begin(), members.end())](int from, int to) {
        const TransferPath path = topology.path(devices[from], devices[to]);
        FlowRoute route{.uses = {}, .latency = path.latency, .limit = path.bottleneck};
        for (const int l : path.links) {
            const auto link = static_cast<std::uint32_t>(l);
            const auto known = std::ranges::find(route.uses, link, &LinkUse::link);
            if (known == route.uses.end())
                route.uses.push_back({link});
            else
                known->weight += 1;  // through host memory and back over the same cable
        }
        return route;
    };
    return network;
}

}  // namespace sextant
