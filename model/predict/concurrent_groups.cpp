#include "model/predict/concurrent_groups.hpp"

#include <set>

namespace sextant {

GroupFinder::GroupFinder(const Scenario& scenario, const Topology& topology)
    : topology_(topology),
      layout_(scenario.plan, topology.nodes(), topology.devices_per_node(), topology.devices_per_unit()),
      traffic_(topology, layout_.devices_per_block()) {
    for (int s = 0; s < scenario.plan.pp; ++s) {
        stages_.push_back(layout_.stage(s));
        const auto [standing, is_new] = standing_.try_emplace(stages_.back().place);
        if (is_new) standing->second = stand(layout_.groups({}, stages_.back()));
    }
}

GroupFinder::Standing GroupFinder::stand(BlockLayout::Groups where) const {
    Standing s{std::move(where), {}, {}};
    for (const int place : s.where.first_places) s.devices.push_back(layout_.device_at(place));
    std::set<int> nodes;
    for (const DeviceIndex d : s.devices) nodes.insert(node_of(d));
    s.nodes.assign(nodes.begin(), nodes.end());
    return s;
}

ParallelGroup GroupFinder::first_alike(ParallelGroup which) const {
    auto first = ParallelGroup::tensor;
    while (layout_.ranks().ranges(first) != layout_.ranks().ranges(which)) first = static_cast<ParallelGroup>(static_cast<int>(first) + 1);
    return first;
}

const ConcurrentGroups& GroupFinder::of(ParallelGroup which, std::size_t stage) {
    const auto [entry, is_new] = found_.try_emplace({first_alike(which), stages_[stage].place});
    if (is_new) entry->second = find(which, stages_[stage]);
    return entry->second;
}

ConcurrentGroups GroupFinder::find(ParallelGroup which, const BlockLayout::Stage& stage) {
    ConcurrentGroups s{layout_.groups(layout_.ranks().ranges(which), stage), {}, {}, {}};
    for (const int first : s.where.first_places) {
        std::vector<DeviceIndex> devices;
        for (const int place : s.where.places) devices.push_back(layout_.device_at(first + place));
        s.formations.push_back(traffic_.form(std::move(devices)));
    }
    s.representatives = representatives(which, s);
    std::set<int> near;
    for (const std::size_t place : s.representatives) near.insert(s.formations[place].nodes.begin(), s.formations[place].nodes.end());
    s.near.assign(near.begin(), near.end());
    return s;
}

std::vector<std::size_t> GroupFinder::representatives(ParallelGroup which, const ConcurrentGroups& s) const {
    if (s.where.blocks.size() > 1 && layout_.devices_per_block() == topology_.devices_per_node()) return {0};  // one node after another
    std::vector<std::vector<DeviceIndex>> groups;
    for (const int first : s.where.first_places) {
        groups.emplace_back();
        for (const int rank : layout_.ranks().group_of(layout_.rank_at(s.where.first_blocks.front(), first), which))
            groups.back().push_back(layout_.ranks().device_of(rank));
    }
    return one_of_each_shape(groups);
}

// How many ranks of a group follow each other on each node, and where the next node is on another switch; inside one node, which devices
// they are.
std::vector<int> GroupFinder::shape(const std::vector<DeviceIndex>& group) const {
    constexpr int another_switch = 0;
    std::vector<int> runs, places;
    DeviceIndex before = group.front();
    for (const DeviceIndex d : group) {
        if (d / topology_.devices_per_unit() != before / topology_.devices_per_unit()) runs.push_back(another_switch);
        if (runs.empty() || node_of(d) != node_of(before)) runs.push_back(0);
        ++runs.back();
        before = d;
        places.push_back(d % topology_.devices_per_node());
    }
    return runs.size() == 1 ? places : runs;
}

std::vector<std::size_t> GroupFinder::one_of_each_shape(const std::vector<std::vector<DeviceIndex>>& groups) const {
    std::set<std::vector<int>> seen;
    std::vector<std::size_t> list;
    for (std::size_t i = 0; i < groups.size(); ++i)
        if (seen.insert(shape(groups[i])).second) list.push_back(i);
    return list;
}

}  // namespace sextant
