#include "model/plan/rank_layout.hpp"
#include "model/predict/state.hpp"

#include <algorithm>

namespace sextant {
namespace {

class GroupLayer {
public:
    GroupLayer(const Scenario& scenario, const Topology& topology)
        : scenario_(scenario), topology_(topology), layout_(scenario.plan, topology.nodes(), topology.devices_per_node()) {}

    // The group of rank 0, beside all sister groups that touch its nodes: those are what it shares links with.
    [[nodiscard]] Group group(ParallelGroup which) const { return layout_.size_of(which) < 2 ? Group{} : lay(layout_.groups(which)); }

    // Neighbours in the pipeline: the pairs over the first stage boundary that leaves a node, else those over the first boundary.
    [[nodiscard]] Group neighbours() const {
        if (scenario_.plan.pp < 2) return {};
        const std::vector<int> stages = layout_.group_of(0, ParallelGroup::pipeline);
        const auto leaves =
            std::adjacent_find(stages.begin(), stages.end(), [&](int a, int b) { return layout_.node_of(a) != layout_.node_of(b); });
        const auto boundary = static_cast<std::size_t>(leaves == stages.end() ? 0 : leaves - stages.begin());
        std::vector<std::vector<int>> pairs;
        for (const std::vector<int>& pipeline : layout_.groups(ParallelGroup::pipeline))
            pairs.push_back({pipeline[boundary], pipeline[boundary + 1]});
        return lay(pairs);
    }

private:
    // The first of `groups`, beside those of the others that touch its nodes.
    [[nodiscard]] Group lay(const std::vector<std::vector<int>>& groups) const {
        std::vector<char> own_node(static_cast<std::size_t>(topology_.nodes()), 0);
        for (const int r : groups.front()) own_node[static_cast<std::size_t>(layout_.node_of(r))] = 1;
        std::vector<std::vector<DeviceIndex>> sharing;
        for (const std::vector<int>& ranks : groups) {
            if (std::none_of(ranks.begin(), ranks.end(),
                             [&](int r) { return own_node[static_cast<std::size_t>(layout_.node_of(r))] != 0; }))
                continue;
            std::vector<DeviceIndex>& devices = sharing.emplace_back();
            for (const int r : ranks) devices.push_back(layout_.device_of(r));
        }
        return make_group(topology_, sharing.front(), sharing, scenario_.cluster.node.peers.in_switch_reduction);
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
    g.pipeline = layer.neighbours();
    return g;
}

}  // namespace sextant
