#include "model/predict/groups.hpp"

#include "model/predict/concurrent_groups.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace sextant {
namespace {

// The time for which a byte of some groups occupies a link.
struct LinkTime {
    int link = 0;
    double time = 0;
};

bool meet(const std::vector<int>& ascending, const std::vector<int>& others) {
    return std::ranges::any_of(others, [&](int x) { return std::ranges::binary_search(ascending, x); });
}

// Groups whose ranks exchange inside layers.
constexpr std::array inside_layers{ParallelGroup::tensor, ParallelGroup::context, ParallelGroup::expert, ParallelGroup::expert_tensor};
// Groups whose ranks exchange beside layers.
constexpr std::array outside_layers{ParallelGroup::data, ParallelGroup::expert_data, ParallelGroup::shard, ParallelGroup::replicas};

class GroupLayer {
public:
    GroupLayer(const Scenario& scenario, const Topology& topology)
        : scenario_(scenario),
          topology_(topology),
          groups_(scenario, topology),
          layout_(groups_.layout()),
          traffic_(groups_.traffic()),
          stages_(groups_.stages()) {}

    [[nodiscard]] JobGroups groups_of(std::size_t stage, GroupScope laid) {
        std::map<ParallelGroup, Group> known;
        const auto group = [&](ParallelGroup which) {
            if (layout_.ranks().size_of(which) < 2) return Group{};
            const auto [entry, is_new] = known.try_emplace(groups_.first_alike(which));
            if (is_new) entry->second = slowest(groups_.of(which, stage), stages_[stage].shift);
            return entry->second;
        };
        JobGroups g;
        for (const ParallelGroup which : inside_layers) g[which] = group(which);
        if (laid == GroupScope::in_layers) return g;
        for (const ParallelGroup which : outside_layers) g[which] = group(which);
        for (const InLayer kind : all_in_layer)
            g.beside_data[kind] = side_by_side(shared_links({group_of(kind), stage}, {data_group(), stage}));
        return g;
    }

    [[nodiscard]] StageMates mates_of(std::size_t stage) {
        std::vector<std::size_t> mates;
        for (std::size_t other = 0; other < stages_.size(); ++other)
            if (other != stage && stages_[other].shift == stages_[stage].shift &&
                meet(groups_.standing(stage).nodes, groups_.standing(other).nodes))
                mates.push_back(other);
        // Stages at the same place of other blocks meet their mates in the same way, if the fabric treats them alike.
        const auto [known, is_new] =
            mates_.try_emplace({stages_[stage].place, traffic_.place_in_leaf(stages_[stage].shift, layout_.period())});
        if (is_new) {
            const auto beside_mates = [&](ParallelGroup which) {
                double times = 1;
                for (const std::size_t mate : mates) times += side_by_side(shared_links({which, stage}, {which, mate})).one - 1;
                return times;
            };
            for (const InLayer kind : all_in_layer) known->second.in_layers[kind] = beside_mates(group_of(kind));
            known->second.data = beside_mates(data_group());
        }
        return {std::move(mates), known->second.in_layers, known->second.data};
    }

    // The pairs of ranks on the two sides of the boundary after a stage, at their places in their blocks.
    struct Boundary {
        std::vector<std::vector<DeviceIndex>> pairs;
        BlockLayout::Groups where;
        int shift = 0;
    };
    [[nodiscard]] Boundary boundary(std::size_t stage) const {
        const BlockLayout::Stage &from = stages_[stage], &to = stages_[(stage + 1) % stages_.size()];
        Boundary b{{}, groups_.standing(stage).where, std::min(from.shift, to.shift)};
        const auto device = [&](const BlockLayout::Stage& at, int place) {
            return (at.shift - b.shift) * layout_.devices_per_block() + layout_.device_at(place);
        };
        for (const int place : b.where.first_places)
            b.pairs.push_back({device(from, place), device(to, place + layout_.places_between(from, to))});
        return b;
    }
    [[nodiscard]] Group slowest_over(const Boundary& boundary) {
        ConcurrentGroups pairs{boundary.where, {}, {}, {}};
        for (const auto& pair : boundary.pairs) pairs.formations.push_back(traffic_.form(pair));
        pairs.representatives = groups_.one_of_each_shape(boundary.pairs);
        return slowest(pairs, boundary.shift);
    }

    // The devices of a stage's ranks, and of the ranks on its boundary, counted from the first node on the first rank's switch.
    [[nodiscard]] std::vector<DeviceIndex> places(std::size_t stage) const { return from_first_unit(groups_.standing(stage).devices); }
    [[nodiscard]] std::vector<DeviceIndex> places(const Boundary& boundary) const {
        std::vector<DeviceIndex> devices;
        for (const auto& pair : boundary.pairs) devices.insert(devices.end(), pair.begin(), pair.end());
        return from_first_unit(std::move(devices));
    }

private:
    struct Kind {
        ParallelGroup which = ParallelGroup::tensor;
        std::size_t stage = 0;
    };

    // The group over which gradients are exchanged; of shards of a single rank, between their replicas.
    [[nodiscard]] ParallelGroup data_group() const {
        if (!scenario_.plan.has_shards()) return ParallelGroup::data;
        return layout_.ranks().size_of(ParallelGroup::shard) > 1 ? ParallelGroup::shard : ParallelGroup::replicas;
    }
    [[nodiscard]] std::vector<DeviceIndex> from_first_unit(std::vector<DeviceIndex> devices) const {
        const int unit = topology_.devices_per_unit(), begin = devices.front() / unit * unit;
        for (DeviceIndex& d : devices) d -= begin;
        return devices;
    }

    Group slowest(const ConcurrentGroups& concurrent, int shift) {
        std::optional<Group> slowest;
        for (const std::size_t place : concurrent.representatives) {
            const Group g = lay(concurrent, place, shift);
            if (!slowest || g.ring < slowest->ring || (g.ring == slowest->ring && g.nodes > slowest->nodes)) slowest = g;
        }
        return *slowest;
    }

    // Whether groups on other nodes may meet in the fabric because its links between leaves are narrower than those that lead there. Where
    // there are very many groups, only those that touch the same nodes are looked at.
    [[nodiscard]] bool meets_everywhere(const ConcurrentGroups& concurrent) const {
        constexpr std::size_t most_ranks = 4096;
        const FabricSpec& fabric = scenario_.cluster.fabric;
        const bool narrow = fabric.kind == FabricKind::dragonfly || fabric.oversubscription > 1;
        return narrow && concurrent.ranks() <= most_ranks;
    }

    // The first group that begins at a place, while those of its concurrent groups that touch its nodes communicate too.
    Group lay(const ConcurrentGroups& concurrent, std::size_t own, int shift) {
        const SpreadGroup group = concurrent.at(own, 0, shift);
        const std::vector<int>& nodes = group.formation->nodes;
        std::vector<SpreadGroup> others;
        if (meets_everywhere(concurrent)) {
            layout_.in_order_of_ranks(concurrent.where, [&](std::size_t place, std::size_t block) {
                const SpreadGroup other = concurrent.at(place, block, shift);
                if ((place != own || block != 0) && traffic_.may_meet(group, other)) others.push_back(other);
            });
        } else {
            for (std::size_t place = 0; place < concurrent.formations.size(); ++place)
                if (place != own && meet(nodes, concurrent.formations[place].nodes)) others.push_back(concurrent.at(place, 0, shift));
        }
        const RingLayout ring = traffic_.ring(group, others);
        return make_group(topology_, static_cast<int>(group.size()), static_cast<int>(nodes.size() * group.shifts.size()), ring,
                          traffic_.all_to_all_bandwidth(group, others), group_machine(scenario_.cluster));
    }

    // For the links around groups of kind `one`, one of each shape: how long a byte of all groups of each of the two kinds occupies them.
    [[nodiscard]] std::vector<SharedLink> shared_links(Kind one, Kind other) {
        if (layout_.ranks().size_of(one.which) < 2 || layout_.ranks().size_of(other.which) < 2) return {};
        const std::vector<LinkTime>&ones = taken(one, one), &others = taken(other, one);
        std::vector<SharedLink> shared;
        for (auto a = ones.begin(), b = others.begin(); a != ones.end() || b != others.end();) {
            const bool mine = b == others.end() || (a != ones.end() && a->link <= b->link);
            const bool theirs = a == ones.end() || (b != others.end() && b->link <= a->link);
            keep(shared, {mine ? (a++)->time : 0, theirs ? (b++)->time : 0});
        }
        return shared;
    }

    // By link, the time taken by groups of `kind` that touch nodes of the first groups of `around`. Nodes that groups of a kind have in
    // common are all alike, so those of the stage's first block are enough.
    const std::vector<LinkTime>& taken(Kind kind, Kind around) {
        const std::vector<int>& near = groups_.of(around.which, around.stage).near;
        const auto [entry, is_new] = taken_.try_emplace({kind.which, kind.stage, around.which, near});
        if (is_new) entry->second = count_taken(kind, around, near);
        return entry->second;
    }
    std::vector<LinkTime> count_taken(Kind kind, Kind around, const std::vector<int>& near_nodes) {
        const ConcurrentGroups& concurrent = groups_.of(kind.which, kind.stage);
        const int shift = stages_[kind.stage].shift;
        const SpreadGroup first = groups_.of(around.which, around.stage).at(0, 0, shift);
        std::vector<bool> near(static_cast<std::size_t>(layout_.blocks()));
        const auto block_of = [](const SpreadGroup& group, int s) {
            return static_cast<std::size_t>(group.first) + static_cast<std::size_t>(s);
        };
        for (const int s : first.shifts) near[block_of(first, s)] = true;
        const auto touches = [&](const SpreadGroup& group) {
            return meet(near_nodes, group.formation->nodes) &&
                   std::ranges::any_of(group.shifts, [&](int s) { return near[block_of(group, s)]; });
        };
        time_of_.resize(topology_.links().size());
        std::vector<int> links;
        layout_.in_order_of_ranks(concurrent.where, [&](std::size_t place, std::size_t block) {
            const SpreadGroup group = concurrent.at(place, block, shift);
            if (!touches(group)) return;
            const bool all_to_all = kind.which == ParallelGroup::expert;
            for (const LinkLoad& l : all_to_all ? traffic_.all_to_all_loads(group, first.first) : traffic_.ring_loads(group, first.first)) {
                double& time = time_of_[static_cast<std::size_t>(l.link)];
                if (time == 0) links.push_back(l.link);
                time += l.weight / topology_.links()[static_cast<std::size_t>(l.link)].bandwidth.si();
            }
        });
        std::ranges::sort(links);
        std::vector<LinkTime> taken;
        taken.reserve(links.size());
        for (const int link : links) taken.push_back({link, std::exchange(time_of_[static_cast<std::size_t>(link)], 0.0)});
        return taken;
    }

    const Scenario& scenario_;
    const Topology& topology_;
    GroupFinder groups_;
    const BlockLayout& layout_;
    GroupTraffic& traffic_;
    const std::vector<BlockLayout::Stage>& stages_;
    std::map<std::pair<int, int>, StageMates> mates_;  // by place and place in leaf
    std::map<std::tuple<ParallelGroup, std::size_t, ParallelGroup, std::vector<int>>, std::vector<LinkTime>> taken_;
    std::vector<double> time_of_;  // by link: zero but while counting
};

}  // namespace

bool StageGroups::as_before(std::size_t stage) const {
    const auto same_boundaries = [&](std::size_t s) { return boundaries[s].ring == boundaries[s - 1].ring; };
    const auto same_slowdown = [](const StageMates& a, const StageMates& b) { return a.in_layers == b.in_layers && a.data == b.data; };
    return stage > 1 && kind_of[stage] == kind_of[stage - 1] && same_slowdown(mates[stage], mates[stage - 1]) && same_boundaries(stage) &&
           same_boundaries(stage - 1);
}

bool same_in_layers(const JobGroups& a, const JobGroups& b) {
    return std::ranges::all_of(inside_layers, [&](ParallelGroup which) { return a[which] == b[which]; });
}

StageGroups lay_groups(const Scenario& scenario, const Topology& topology, GroupScope laid) {
    GroupLayer layer(scenario, topology);
    const auto stages = static_cast<std::size_t>(scenario.plan.pp);
    StageGroups groups{{}, {}, {}, {}, {}, {}};
    std::map<std::vector<DeviceIndex>, std::size_t> known;
    for (std::size_t s = 0; s < stages; ++s) {
        const auto [entry, is_new] = known.try_emplace(layer.places(s), groups.kinds.size());
        if (is_new) groups.kinds.push_back(layer.groups_of(s, laid));
        groups.kind_of.push_back(entry->second);
        if (laid == GroupScope::all) groups.mates.push_back(layer.mates_of(s));
    }
    if (laid == GroupScope::in_layers) return groups;
    if (scenario.plan.has_servers()) groups.to_servers = server_path(scenario, topology);
    if (stages < 2) return groups;
    std::map<std::vector<DeviceIndex>, Group> boundaries;
    for (std::size_t s = 0; s < stages; ++s) {
        const auto boundary = layer.boundary(s);
        const auto [entry, is_new] = boundaries.try_emplace(layer.places(boundary));
        if (is_new) entry->second = layer.slowest_over(boundary);
        groups.boundaries.push_back(entry->second);
    }
    const auto end = groups.boundaries.end() - 1;  // the last stage has no next but where chunks go round
    const auto outside = std::find_if(groups.boundaries.begin(), end, [](const Group& g) { return g.crosses_network; });
    groups.send = outside == end ? groups.boundaries.front() : *outside;
    return groups;
}

}  // namespace sextant
