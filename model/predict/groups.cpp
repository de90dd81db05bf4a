#include "model/plan/rank_layout.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace sextant {
namespace {

class GroupLayer {
public:
    GroupLayer(const Scenario& scenario, const Topology& topology)
        : scenario_(scenario), topology_(topology), layout_(scenario.plan, topology.nodes(), topology.devices_per_node()) {}

    // The slowest of the sister groups, which the others wait for, beside all that touch its nodes: those are what it shares links with.
    [[nodiscard]] Group group(ParallelGroup which) const { return layout_.size_of(which) < 2 ? Group{} : lay(layout_.groups(which)); }

    // By stage.
    [[nodiscard]] std::vector<char> boundaries_that_leave_a_node() const {
        const auto stages = static_cast<std::size_t>(scenario_.plan.pp);
        std::vector<char> leaves(stages, 0);
        for (const std::vector<int>& pipeline : layout_.groups(ParallelGroup::pipeline))
            for (std::size_t s = 0; s < stages; ++s)
                if (layout_.node_of(pipeline[s]) != layout_.node_of(pipeline[(s + 1) % stages])) leaves[s] = 1;
        return leaves;
    }

    // The pairs of all pipelines over the boundary behind this stage.
    [[nodiscard]] Group neighbours(std::size_t stage) const {
        std::vector<std::vector<int>> pairs;
        for (const std::vector<int>& pipeline : layout_.groups(ParallelGroup::pipeline))
            pairs.push_back({pipeline[stage], pipeline[stage + 1]});
        return lay(pairs);
    }

private:
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
};

}  // namespace

JobGroups lay_groups(const Scenario& scenario, const Topology& topology) {
    const GroupLayer layer(scenario, topology);
    JobGroups g;
    g.tensor = layer.group(ParallelGroup::tensor);
    g.context = layer.group(ParallelGroup::context);
    g.data = layer.group(ParallelGroup::data);
    g.expert_tensor = layer.group(ParallelGroup::expert_tensor);
    g.expert = layer.group(ParallelGroup::expert);
    g.expert_data = layer.group(ParallelGroup::expert_data);
    g.shard = layer.group(ParallelGroup::shard);
    g.replicas = layer.group(ParallelGroup::replicas);
    if (scenario.plan.pp < 2) return g;
    g.leaves_node = layer.boundaries_that_leave_a_node();
    const auto end = g.leaves_node.end() - 1;  // the last stage has no next but where chunks go round
    const auto outside = std::find(g.leaves_node.begin(), end, 1), inside = std::find(g.leaves_node.begin(), end, 0);
    if (inside != end) g.pipeline_inside = layer.neighbours(static_cast<std::size_t>(inside - g.leaves_node.begin()));
    g.pipeline = outside == end ? g.pipeline_inside : layer.neighbours(static_cast<std::size_t>(outside - g.leaves_node.begin()));
    if (inside == end) g.pipeline_inside = g.pipeline;
    return g;
}

}  // namespace sextant
