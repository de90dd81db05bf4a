#include "model/plan/rank_layout.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace sextant {
namespace {

class GroupLayer {
public:
    GroupLayer(const Scenario& scenario, const Topology& topology)
        : scenario_(scenario),
          topology_(topology),
          layout_(scenario.plan, topology.nodes(), topology.devices_per_node()),
          ranks_(static_cast<std::size_t>(scenario.plan.pp)) {
        for (int r = 0; r < layout_.ranks(); ++r) ranks_[stage_of(r)].push_back(r);
    }

    // The slowest of the stage's sister groups, which the others wait for, beside all that touch its nodes: those are what it shares
    // links with.
    [[nodiscard]] JobGroups groups_of(int stage) const {
        const auto group = [&](ParallelGroup which) { return layout_.size_of(which) < 2 ? Group{} : lay(sisters(which, stage)); };
        JobGroups g;
        g.tensor = group(ParallelGroup::tensor);
        g.context = group(ParallelGroup::context);
        g.data = group(ParallelGroup::data);
        g.expert_tensor = group(ParallelGroup::expert_tensor);
        g.expert = group(ParallelGroup::expert);
        g.expert_data = group(ParallelGroup::expert_data);
        g.shard = group(ParallelGroup::shard);
        g.replicas = group(ParallelGroup::replicas);
        if (layout_.size_of(data_group()) < 2) return g;
        for (std::size_t i = 0; i < std::size(in_layers); ++i)
            if (layout_.size_of(in_layers[i]) > 1) g.beside_data[i] = shared_links(loads(in_layers[i], stage), loads(data_group(), stage));
        return g;
    }

    [[nodiscard]] StageMates mates(int stage) const {
        StageMates mates;
        std::set<int> nodes;
        for (const int r : ranks_[static_cast<std::size_t>(stage)]) nodes.insert(layout_.node_of(r));
        for (std::size_t other = 0; other < ranks_.size(); ++other)
            if (other != static_cast<std::size_t>(stage) &&
                std::ranges::any_of(ranks_[other], [&](int r) { return nodes.contains(layout_.node_of(r)); }))
                mates.stages.push_back(other);
        if (mates.stages.empty()) return mates;
        for (std::size_t i = 0; i < mates.in_layers.size(); ++i) mates.in_layers[i] = beside(in_layers[i], stage, mates.stages);
        mates.data = beside(data_group(), stage, mates.stages);
        return mates;
    }

    // The pairs of all pipelines over the boundary behind this stage.
    [[nodiscard]] Group boundary(int stage) const { return lay(pairs(stage)); }

    // Where the ranks of a stage stand, counted from the node of the first: stages of equal places have equal groups.
    [[nodiscard]] std::vector<int> places(int stage) const { return from_first_node(ranks_[static_cast<std::size_t>(stage)]); }
    [[nodiscard]] std::vector<int> boundary_places(int stage) const {
        std::vector<int> ranks;
        for (const std::vector<int>& pair : pairs(stage)) ranks.insert(ranks.end(), pair.begin(), pair.end());
        return from_first_node(ranks);
    }

private:
    static constexpr ParallelGroup in_layers[] = {ParallelGroup::tensor, ParallelGroup::context, ParallelGroup::expert};
    [[nodiscard]] ParallelGroup data_group() const { return scenario_.plan.has_shards() ? ParallelGroup::shard : ParallelGroup::data; }

    [[nodiscard]] std::size_t stage_of(int rank) const { return static_cast<std::size_t>(layout_.place_of(rank).pipeline); }

    // Of a stage.
    [[nodiscard]] std::vector<std::vector<int>> sisters(ParallelGroup which, int stage) const {
        std::vector<std::vector<int>> groups;
        for (const int r : ranks_[static_cast<std::size_t>(stage)])
            if (std::vector<int> g = layout_.group_of(r, which); g.front() == r) groups.push_back(std::move(g));
        return groups;
    }

    // What a byte of all groups of a kind takes of each link that they cross, in seconds.
    [[nodiscard]] std::map<int, double> loads(ParallelGroup which, int stage) const {
        std::map<int, double> taken;
        for (const std::vector<int>& ranks : sisters(which, stage)) {
            std::vector<DeviceIndex> members;
            for (const int r : ranks) members.push_back(layout_.device_of(r));
            for (const LinkLoad& l : which == ParallelGroup::expert ? topology_.all_to_all_loads(members) : topology_.ring_loads(members))
                taken[l.link] += l.weight / topology_.links()[static_cast<std::size_t>(l.link)].bandwidth.si();
        }
        return taken;
    }

    // How many times as long these exchanges of a stage take beside the same of the other stages.
    [[nodiscard]] double beside(ParallelGroup which, int stage, const std::vector<std::size_t>& others) const {
        double times = 1;
        if (layout_.size_of(which) < 2) return times;
        const std::map<int, double> own = loads(which, stage);
        for (const std::size_t other : others)
            times += side_by_side(shared_links(own, loads(which, static_cast<int>(other))), 1, 1).one - 1;
        return times;
    }

    [[nodiscard]] static std::vector<SharedLink> shared_links(const std::map<int, double>& one, const std::map<int, double>& other) {
        std::map<int, SharedLink> links;
        for (const auto& [link, taken] : one) links[link].one = taken;
        for (const auto& [link, taken] : other) links[link].other = taken;
        std::vector<SharedLink> shared;
        for (const auto& [link, taken] : links) keep(shared, taken);
        return shared;
    }

    [[nodiscard]] std::vector<std::vector<int>> pairs(int stage) const {
        std::vector<std::vector<int>> pairs;
        for (const int r : ranks_[static_cast<std::size_t>(stage)]) {
            RankPlace next = layout_.place_of(r);
            next.pipeline = (stage + 1) % scenario_.plan.pp;
            pairs.push_back({r, layout_.rank_at(next)});
        }
        return pairs;
    }

    [[nodiscard]] std::vector<int> from_first_node(const std::vector<int>& ranks) const {
        std::vector<int> places;
        const int first = layout_.node_of(ranks.front()) * topology_.devices_per_node();
        for (const int r : ranks) places.push_back(layout_.device_of(r) - first);
        return places;
    }

    // Groups that lie alike over their nodes are equally fast: one of each kind is looked at.
    [[nodiscard]] Group lay(const std::vector<std::vector<int>>& groups) const {
        std::set<std::vector<int>> seen;
        std::optional<Group> slowest;
        for (const std::vector<int>& ranks : groups) {
            if (!seen.insert(shape(ranks)).second) continue;
            const Group g = lay(ranks, groups);
            if (!slowest || g.ring < slowest->ring || (g.ring == slowest->ring && g.nodes > slowest->nodes)) slowest = g;
        }
        return *slowest;
    }

    // How many of its ranks follow each other on one node; inside one node, which devices they are.
    [[nodiscard]] std::vector<int> shape(const std::vector<int>& ranks) const {
        std::vector<int> runs, places;
        int before = -1;
        for (const int r : ranks) {
            const int node = layout_.node_of(r);
            if (node != before) runs.push_back(0);
            ++runs.back();
            before = node;
            places.push_back(layout_.device_of(r) % topology_.devices_per_node());
        }
        return runs.size() == 1 ? places : runs;
    }

    // Do groups of other nodes meet in the fabric, whose links between leaves are narrower than those that lead there? Where there are very
    // many, those that touch the same nodes have to do.
    [[nodiscard]] bool meets_everywhere(const std::vector<std::vector<int>>& groups) const {
        constexpr std::size_t most_ranks = 4096;
        const FabricSpec& fabric = scenario_.cluster.fabric;
        const bool narrow = fabric.kind == FabricKind::dragonfly || fabric.oversubscription > 1;
        return narrow && groups.size() * groups.front().size() <= most_ranks;
    }

    // `ranks`, beside those of the others that touch its nodes.
    [[nodiscard]] Group lay(const std::vector<int>& ranks_of_it, const std::vector<std::vector<int>>& groups) const {
        std::vector<char> own_node(static_cast<std::size_t>(topology_.nodes()), 0);
        for (const int r : ranks_of_it) own_node[static_cast<std::size_t>(layout_.node_of(r))] = 1;
        std::vector<DeviceIndex> own;
        for (const int r : ranks_of_it) own.push_back(layout_.device_of(r));
        std::vector<std::vector<DeviceIndex>> sharing;
        for (const std::vector<int>& ranks : groups) {
            const auto is_here = [&](int r) { return own_node[static_cast<std::size_t>(layout_.node_of(r))] != 0; };
            if (!meets_everywhere(groups) && std::none_of(ranks.begin(), ranks.end(), is_here)) continue;
            std::vector<DeviceIndex>& devices = sharing.emplace_back();
            for (const int r : ranks) devices.push_back(layout_.device_of(r));
        }
        return make_group(topology_, own, sharing, scenario_.cluster.node.peers.in_switch_reduction);
    }

    const Scenario& scenario_;
    const Topology& topology_;
    RankLayout layout_;
    std::vector<std::vector<int>> ranks_;  // by stage
};

}  // namespace

bool StageGroups::alike(std::size_t stage, std::size_t other) const {
    const auto same = [&](std::size_t a, std::size_t b) { return boundaries[a].ring == boundaries[b].ring; };
    return which[stage] == which[other] && same(stage, other) && same(stage - 1, other - 1) &&
           mates[stage].in_layers == mates[other].in_layers && mates[stage].data == mates[other].data;
}

StageGroups lay_groups(const Scenario& scenario, const Topology& topology) {
    const GroupLayer layer(scenario, topology);
    const int stages = scenario.plan.pp;
    StageGroups groups{{}, {}, {}, {}, {}};
    std::map<std::vector<int>, std::size_t> known;
    for (int s = 0; s < stages; ++s) {
        const auto [entry, is_new] = known.try_emplace(layer.places(s), groups.unlike.size());
        if (is_new) groups.unlike.push_back(layer.groups_of(s));
        groups.which.push_back(entry->second);
        groups.mates.push_back(layer.mates(s));
    }
    if (stages < 2) return groups;
    std::map<std::vector<int>, Group> boundaries;
    for (int s = 0; s < stages; ++s) {
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
