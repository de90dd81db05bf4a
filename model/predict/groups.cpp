#include "model/predict/state.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

// Strides of the plan's dimensions in the order of ranks. Ranks fill nodes in that order, `per_node` on each.
struct RankOrder {
    int tensor = 1, context = 1, data = 1, pipeline = 1;

    explicit RankOrder(const Plan& plan) {
        int stride = 1;
        const auto place = [&](PlanDimension d) {
            switch (d) {
                case PlanDimension::tensor:
                    tensor = stride, stride *= plan.tp;
                    break;
                case PlanDimension::context:
                    context = stride, stride *= plan.cp;
                    break;
                case PlanDimension::data:
                    data = stride, stride *= plan.dp;
                    break;
                case PlanDimension::pipeline:
                    pipeline = stride, stride *= plan.pp;
                    break;
                case PlanDimension::expert:
                    break;  // experts live on the data and context ranks
            }
        };
        for (const PlanDimension d : plan.placement) place(d);
        for (const PlanDimension d : {PlanDimension::tensor, PlanDimension::context, PlanDimension::data, PlanDimension::pipeline})
            if (std::find(plan.placement.begin(), plan.placement.end(), d) == plan.placement.end()) place(d);
    }
};

class GroupLayer {
public:
    GroupLayer(const Scenario& scenario, const Topology& topology)
        : scenario_(scenario),
          topology_(topology),
          order_(scenario.plan),
          ranks_(scenario.plan.devices()),
          per_node_(std::min(scenario.plan.devices_per_node.value_or(topology.devices_per_node()), topology.devices_per_node())) {}

    // Rank to device. Ranks that a scheduler scattered are dealt to nodes in turn, the worst that it can do.
    [[nodiscard]] DeviceIndex device_of(int rank) const {
        const int nodes = topology_.nodes();
        const int node = scenario_.plan.scattered ? rank % nodes : rank / per_node_;
        const int local = scenario_.plan.scattered ? rank / nodes : rank % per_node_;
        return node * topology_.devices_per_node() + local;
    }

    // A group of ranks: the product of strided ranges.
    struct Range {
        int count = 1, stride = 0;
    };
    static int size_of(std::initializer_list<Range> ranges) {
        int n = 1;
        for (const Range& r : ranges) n *= r.count;
        return n;
    }
    static std::vector<int> ranks(int base, std::initializer_list<Range> ranges) {
        std::vector<int> list{base};
        for (const Range& r : ranges) {
            const std::size_t before = list.size();
            for (int i = 1; i < r.count; ++i)
                for (std::size_t j = 0; j < before; ++j) list.push_back(list[j] + i * r.stride);
        }
        return list;
    }

    // The group of rank 0, beside all sister groups that touch its nodes: those are what it shares links with.
    [[nodiscard]] Group group(std::initializer_list<Range> ranges) const {
        if (size_of(ranges) < 2) return {};
        std::vector<std::vector<int>> groups;
        std::vector<char> seen(static_cast<std::size_t>(ranks_), 0);
        for (int r = 0; r < ranks_; ++r) {
            if (seen[static_cast<std::size_t>(r)]) continue;
            groups.push_back(ranks(r, ranges));
            for (const int m : groups.back()) seen[static_cast<std::size_t>(m)] = 1;
        }
        return lay(groups);
    }

    // Neighbours in the pipeline: the pairs over the first stage boundary that leaves a node, else those over the first boundary.
    [[nodiscard]] Group neighbours() const {
        const int stages = scenario_.plan.pp, stride = order_.pipeline;
        if (stages < 2) return {};
        int boundary = 0;
        while (boundary < stages - 2 && node_of(device_of(boundary * stride)) == node_of(device_of((boundary + 1) * stride))) ++boundary;
        if (node_of(device_of(boundary * stride)) == node_of(device_of((boundary + 1) * stride))) boundary = 0;
        std::vector<std::vector<int>> pairs{{boundary * stride, (boundary + 1) * stride}};
        for (int r = 0; r < ranks_; ++r)
            if (r != pairs[0][0] && r / stride % stages == boundary) pairs.push_back({r, r + stride});
        return lay(pairs);
    }

    [[nodiscard]] const RankOrder& order() const { return order_; }

private:
    // The first of `groups`, beside those of the others that touch its nodes.
    [[nodiscard]] Group lay(const std::vector<std::vector<int>>& groups) const {
        std::vector<char> own_node(static_cast<std::size_t>(topology_.nodes()), 0);
        for (const int r : groups.front()) own_node[node_of(device_of(r))] = 1;
        std::vector<std::vector<DeviceIndex>> sharing;
        for (const std::vector<int>& ranks : groups) {
            std::vector<DeviceIndex> devices;
            devices.reserve(ranks.size());
            for (const int r : ranks) devices.push_back(device_of(r));
            if (std::any_of(devices.begin(), devices.end(), [&](DeviceIndex d) { return own_node[node_of(d)] != 0; }))
                sharing.push_back(std::move(devices));
        }
        return make_group(topology_, sharing.front(), sharing, scenario_.cluster.node.peers.in_switch_reduction);
    }
    [[nodiscard]] std::size_t node_of(DeviceIndex d) const { return static_cast<std::size_t>(d / topology_.devices_per_node()); }

    const Scenario& scenario_;
    const Topology& topology_;
    RankOrder order_;
    int ranks_;
    int per_node_;
};

}  // namespace

JobGroups lay_groups(const Scenario& scenario, const Topology& topology) {
    const Plan& plan = scenario.plan;
    const GroupLayer layer(scenario, topology);
    const RankOrder& o = layer.order();
    JobGroups g;
    g.tensor = layer.group({{plan.tp, o.tensor}});
    g.context = layer.group({{plan.cp, o.context}});
    g.data = layer.group({{plan.cp, o.context}, {plan.dp, o.data}});
    // Experts take the tensor ranks that an expert leaves, then the context and the data ranks.
    const int inside = plan.expert_tensor();
    const int of_tensor = std::gcd(plan.ep, std::max(1, plan.tp / inside));
    const int of_context = std::gcd(plan.ep / of_tensor, plan.cp);
    const int of_data = std::max(1, plan.ep / (of_tensor * of_context));
    g.expert_tensor = layer.group({{inside, o.tensor}});
    g.expert = layer.group({{of_tensor, o.tensor * inside}, {of_context, o.context}, {of_data, o.data}});
    g.expert_data = layer.group({{std::max(1, plan.tp / (inside * of_tensor)), o.tensor * inside * of_tensor},
                                 {std::max(1, plan.cp / of_context), o.context * of_context},
                                 {std::max(1, plan.dp / of_data), o.data * of_data}});
    // Shards of hybrid ZeRO take context ranks, then data ranks; those left over hold the same shard.
    const int shard_context = std::gcd(plan.shard_ranks(), plan.cp), shard_data = plan.shard_ranks() / shard_context;
    g.shard = layer.group({{shard_context, o.context}, {shard_data, o.data}});
    g.replicas = layer.group({{plan.cp / shard_context, o.context * shard_context}, {plan.dp / shard_data, o.data * shard_data}});
    g.pipeline = layer.neighbours();
    return g;
}

}  // namespace sextant
