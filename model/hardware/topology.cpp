#include "model/hardware/topology.hpp"

#include "model/hardware/topology_graph.hpp"

#include <algorithm>

namespace sextant {

Topology::Topology(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;
Topology::~Topology() = default;

int Topology::nodes() const { return graph_->nodes; }
int Topology::devices_per_node() const { return graph_->devices; }
int Topology::devices_per_unit() const { return graph_->unit(); }
std::span<const TopologyVertex> Topology::vertices() const { return graph_->vertices; }
std::span<const TopologyLink> Topology::links() const { return graph_->links; }

void LinkLoads::count_on(Nodes one, Nodes other) {
    for (const int l : touched_) load_[l] = 0;
    touched_.clear();
    own_ = 0;
    one_ = inside(one);
    other_ = inside(other);
}

LinkLoads::Limit LinkLoads::limit() const {
    Limit limit;
    for (const int l : std::span(touched_).first(own_)) {
        const TopologyLink& link = graph_.links[l];
        const Bandwidth share = link.bandwidth / load_[l];
        const bool network = link.category == LinkCategory::infiniband || link.category == LinkCategory::ethernet;
        if (network) limit.of_network = min(limit.of_network, share);
        if (share < limit.bandwidth) {
            limit.bandwidth = share;
            limit.category = link.category;
        }
    }
    return limit;
}

std::vector<LinkLoad> LinkLoads::all() const {
    std::vector<LinkLoad> loads;
    loads.reserve(touched_.size());
    for (const int l : touched_) loads.push_back({l, load_[l]});
    return loads;
}

std::vector<std::span<const DeviceIndex>> other_groups(std::span<const DeviceIndex> members,
                                                       std::span<const std::vector<DeviceIndex>> groups) {
    std::vector<DeviceIndex> sorted(members.begin(), members.end());
    std::ranges::sort(sorted);
    const auto is_ours = [&](const std::vector<DeviceIndex>& group) {
        return group.size() == sorted.size() &&
               std::ranges::all_of(group, [&](DeviceIndex d) { return std::ranges::binary_search(sorted, d); });
    };
    std::vector<std::span<const DeviceIndex>> others;
    for (const auto& group : groups)
        if (!is_ours(group)) others.emplace_back(group);
    return others;
}

std::vector<std::span<const DeviceIndex>> split_by_unit(std::span<const DeviceIndex> sorted, int unit) {
    std::vector<std::span<const DeviceIndex>> parts;
    for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
        while (end < sorted.size() && sorted[end] / unit == sorted[begin] / unit) ++end;
        parts.push_back(sorted.subspan(begin, end - begin));
    }
    return parts;
}

}  // namespace sextant
