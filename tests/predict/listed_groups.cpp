#include "tests/predict/listed_groups.hpp"

#include "model/hardware/group_traffic.hpp"
#include "model/plan/rank_layout.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sextant {
namespace {

using Ranks = std::vector<int>;

class GroupLayer {
public:
    GroupLayer(const Scenario& scenario, const Topology& topology)
        : scenario_(scenario),
          topology_(topology),
          layout_(scenario.plan, topology.nodes(), topology.devices_per_node()),
          stages_(static_cast<std::size_t>(scenario.plan.pp)),
          on_node_(static_cast<std::size_t>(topology.nodes())) {
        for (int r = 0; r < layout_.ranks(); ++r) {
            const auto stage = static_cast<std::size_t>(layout_.place_of(r).pipeline);
            stages_[stage].push_back(r);
            on_node_[static_cast<std::size_t>(layout_.node_of(r))].insert(stage);
        }
    }

    [[nodiscard]] JobGroups groups_of(std::size_t stage) const {
        const auto group = [&](ParallelGroup which) { return layout_.size_of(which) < 2 ? Group{} : slowest(concurrent(which, stage)); };
        JobGroups g;
        for (int which = 0; which < static_cast<int>(ParallelGroup::pipeline); ++which) {
            const auto kind = static_cast<ParallelGroup>(which);
            g[kind] = group(kind);
        }
        for (const InLayer kind : all_in_layer)
            g.beside_data[kind] = side_by_side(shared_links({group_of(kind), stage}, {data_group(), stage}));
        return g;
    }

    [[nodiscard]] StageMates mates_of(std::size_t stage) const {
        StageMates mates;
        std::set<std::size_t> here;
        for (const int node : nodes_of(stages_[stage])) {
            const std::set<std::size_t>& there = on_node_[static_cast<std::size_t>(node)];
            here.insert(there.begin(), there.end());
        }
        here.erase(stage);
        mates.stages.assign(here.begin(), here.end());
        const auto beside_mates = [&](ParallelGroup which) {
            double times = 1;
            for (const std::size_t mate : mates.stages) times += side_by_side(shared_links({which, stage}, {which, mate})).one - 1;
            return times;
        };
        for (const InLayer kind : all_in_layer) mates.in_layers[kind] = beside_mates(group_of(kind));
        mates.data = beside_mates(data_group());
        return mates;
    }

    [[nodiscard]] Group boundary(std::size_t stage) const { return slowest(pairs(stage)); }

    // Where the ranks of a stage stand, and where those over its boundary do, counted from the first node behind its switch.
    [[nodiscard]] std::vector<int> places(std::size_t stage) const { return from_first_unit(stages_[stage]); }
    [[nodiscard]] std::vector<int> boundary_places(std::size_t stage) const {
        Ranks ranks;
        for (const Ranks& pair : pairs(stage)) ranks.insert(ranks.end(), pair.begin(), pair.end());
        return from_first_unit(ranks);
    }

private:
    struct Kind {
        ParallelGroup which = ParallelGroup::tensor;
        std::size_t stage = 0;
    };

    [[nodiscard]] ParallelGroup data_group() const { return scenario_.plan.has_shards() ? ParallelGroup::shard : ParallelGroup::data; }

    // All groups of a kind in a stage.
    [[nodiscard]] std::vector<Ranks> concurrent(ParallelGroup which, std::size_t stage) const {
        std::vector<Ranks> groups;
        for (const int r : stages_[stage])
            if (Ranks group = layout_.group_of(r, which); group.front() == r) groups.push_back(std::move(group));
        return groups;
    }

    // Of the ranks of a stage with those of the next.
    [[nodiscard]] std::vector<Ranks> pairs(std::size_t stage) const {
        std::vector<Ranks> pairs;
        for (const int r : stages_[stage]) {
            RankPlace next = layout_.place_of(r);
            next.pipeline = static_cast<int>((stage + 1) % stages_.size());
            pairs.push_back({r, layout_.rank_at(next)});
        }
        return pairs;
    }

    [[nodiscard]] std::vector<DeviceIndex> devices_of(const Ranks& ranks) const {
        std::vector<DeviceIndex> devices;
        for (const int r : ranks) devices.push_back(layout_.device_of(r));
        return devices;
    }
    [[nodiscard]] std::vector<int> from_first_unit(const Ranks& ranks) const {
        std::vector<int> places = devices_of(ranks);
        const int unit = topology_.devices_per_unit(), begin = places.front() / unit * unit;
        for (int& place : places) place -= begin;
        return places;
    }
    [[nodiscard]] std::set<int> nodes_of(const Ranks& ranks) const {
        std::set<int> nodes;
        for (const int r : ranks) nodes.insert(layout_.node_of(r));
        return nodes;
    }
    [[nodiscard]] bool touches(const Ranks& ranks, const std::set<int>& nodes) const {
        return std::ranges::any_of(ranks, [&](int r) { return nodes.contains(layout_.node_of(r)); });
    }

    // How many of its ranks follow each other on one node, and behind one switch; inside one node, which devices they are.
    [[nodiscard]] std::vector<int> shape(const Ranks& ranks) const {
        std::vector<int> on_nodes, behind_switches, places;
        int node = -1, unit = -1;
        for (const int r : ranks) {
            if (layout_.node_of(r) != std::exchange(node, layout_.node_of(r))) on_nodes.push_back(0);
            const int switch_of_rank = layout_.device_of(r) / topology_.devices_per_unit();
            if (switch_of_rank != std::exchange(unit, switch_of_rank)) behind_switches.push_back(0);
            ++on_nodes.back();
            ++behind_switches.back();
            places.push_back(layout_.device_of(r) % topology_.devices_per_node());
        }
        if (on_nodes.size() == 1) return places;
        on_nodes.insert(on_nodes.end(), behind_switches.begin(), behind_switches.end());
        return on_nodes;
    }

    // Groups that lie alike over their nodes are equally fast: one of each kind is looked at.
    [[nodiscard]] std::vector<Ranks> one_of_each_shape(const std::vector<Ranks>& groups) const {
        std::set<std::vector<int>> seen;
        std::vector<Ranks> list;
        for (const Ranks& ranks : groups)
            if (seen.insert(shape(ranks)).second) list.push_back(ranks);
        return list;
    }

    [[nodiscard]] Group slowest(const std::vector<Ranks>& groups) const {
        std::optional<Group> slowest;
        for (const Ranks& ranks : one_of_each_shape(groups)) {
            const Group g = lay(ranks, groups);
            if (!slowest || g.ring < slowest->ring || (g.ring == slowest->ring && g.nodes > slowest->nodes)) slowest = g;
        }
        return *slowest;
    }

    // Do groups of other nodes meet in the fabric, whose links between leaves are narrower than those that lead there? Where there are very
    // many, those that touch the same nodes have to do.
    [[nodiscard]] bool meets_everywhere(const std::vector<Ranks>& groups) const {
        constexpr std::size_t most_ranks = 4096;
        const FabricSpec& fabric = scenario_.cluster.fabric;
        const bool narrow = fabric.kind == FabricKind::dragonfly || fabric.oversubscription > 1;
        return narrow && groups.size() * groups.front().size() <= most_ranks;
    }

    // `ranks`, beside those of its concurrent groups that touch its nodes.
    [[nodiscard]] Group lay(const Ranks& ranks, const std::vector<Ranks>& concurrent) const {
        const std::set<int> nodes = nodes_of(ranks);
        const bool everywhere = meets_everywhere(concurrent);
        std::vector<std::vector<DeviceIndex>> sharing;
        for (const Ranks& other : concurrent)
            if (everywhere || touches(other, nodes)) sharing.push_back(devices_of(other));
        return make_group(topology_, devices_of(ranks), sharing, group_machine(scenario_.cluster));
    }

    // What all groups of each kind together take of the links around groups of the first kind, one of each shape.
    [[nodiscard]] std::vector<SharedLink> shared_links(Kind one, Kind other) const {
        if (layout_.size_of(one.which) < 2 || layout_.size_of(other.which) < 2) return {};
        const std::vector<Ranks> ones = concurrent(one.which, one.stage), others = concurrent(other.which, other.stage);
        std::set<int> nodes;
        for (const Ranks& ranks : one_of_each_shape(ones)) nodes.merge(nodes_of(ranks));
        std::map<int, SharedLink> links;
        load(one.which, ones, nodes, &SharedLink::one, links);
        load(other.which, others, nodes, &SharedLink::other, links);
        std::vector<SharedLink> shared;
        for (const auto& [link, taken] : links) keep(shared, taken);
        return shared;
    }
    void load(ParallelGroup which, const std::vector<Ranks>& groups, const std::set<int>& nodes, double SharedLink::*of,
              std::map<int, SharedLink>& links) const {
        for (const Ranks& ranks : groups) {
            if (!touches(ranks, nodes)) continue;
            const std::vector<DeviceIndex> members = devices_of(ranks);
            const bool all_to_all = which == ParallelGroup::expert;
            for (const LinkLoad& l :
                 all_to_all ? GroupTraffic(topology_).all_to_all_loads(members) : GroupTraffic(topology_).ring_loads(members))
                links[l.link].*of += l.weight / topology_.links()[static_cast<std::size_t>(l.link)].bandwidth.si();
        }
    }

    const Scenario& scenario_;
    const Topology& topology_;
    RankLayout layout_;
    std::vector<Ranks> stages_;                   // the ranks of each
    std::vector<std::set<std::size_t>> on_node_;  // the stages that have ranks there
};

}  // namespace

StageGroups list_groups(const Scenario& scenario, const Topology& topology) {
    const GroupLayer layer(scenario, topology);
    const auto stages = static_cast<std::size_t>(scenario.plan.pp);
    StageGroups groups{{}, {}, {}, {}, {}};
    std::map<std::vector<int>, std::size_t> known;
    for (std::size_t s = 0; s < stages; ++s) {
        const auto [entry, is_new] = known.try_emplace(layer.places(s), groups.kinds.size());
        if (is_new) groups.kinds.push_back(layer.groups_of(s));
        groups.kind_of.push_back(entry->second);
        groups.mates.push_back(layer.mates_of(s));
    }
    if (stages < 2) return groups;
    std::map<std::vector<int>, Group> boundaries;
    for (std::size_t s = 0; s < stages; ++s) {
        const auto [entry, is_new] = boundaries.try_emplace(layer.boundary_places(s));
        if (is_new) entry->second = layer.boundary(s);
        groups.boundaries.push_back(entry->second);
    }
    const auto end = groups.boundaries.end() - 1;  // the last stage has no next but where chunks go round
    const auto outside = std::find_if(groups.boundaries.begin(), end, [](const Group& g) { return g.crosses_network; });
    groups.send = outside == end ? groups.boundaries.front() : *outside;
    return groups;
}

}  // namespace sextant
