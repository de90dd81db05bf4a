#include "model/predict/state.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

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

    // The ranks {base + sum of i_k stride_k}: the product of up to two strided ranges.
    [[nodiscard]] std::vector<int> ranks(int base, int n1, int stride1, int n2 = 1, int stride2 = 0) const {
        std::vector<int> list;
        for (int j = 0; j < n2; ++j)
            for (int i = 0; i < n1; ++i) list.push_back(base + i * stride1 + j * stride2);
        return list;
    }

    // The group of rank 0, beside all sister groups that touch its nodes: those are what it shares links with.
    [[nodiscard]] Group group(int n1, int stride1, int n2 = 1, int stride2 = 0) const {
        if (n1 * n2 < 2) return {};
        std::vector<std::vector<DeviceIndex>> groups;
        std::vector<char> seen(static_cast<std::size_t>(ranks_), 0);
        std::vector<char> own_node(static_cast<std::size_t>(topology_.nodes()), 0);
        for (int r = 0; r < ranks_; ++r) {
            if (seen[static_cast<std::size_t>(r)]) continue;
            const std::vector<int> members = ranks(r, n1, stride1, n2, stride2);
            if (members.back() >= ranks_) continue;  // the last stage has no successor
            std::vector<DeviceIndex> devices;
            devices.reserve(members.size());
            bool touches = groups.empty();
            for (const int m : members) {
                seen[static_cast<std::size_t>(m)] = 1;
                devices.push_back(device_of(m));
                if (own_node[static_cast<std::size_t>(devices.back() / topology_.devices_per_node())]) touches = true;
            }
            if (!touches) continue;
            if (groups.empty())
                for (const DeviceIndex d : devices) own_node[static_cast<std::size_t>(d / topology_.devices_per_node())] = 1;
            groups.push_back(std::move(devices));
        }
        const bool can_reduce = scenario_.cluster.node.peers.in_switch_reduction;
        return make_group(topology_, groups.front(), groups, can_reduce);
    }

    [[nodiscard]] const RankOrder& order() const { return order_; }

private:
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
    g.tensor = layer.group(plan.tp, o.tensor);
    g.expert_tensor = plan.expert_tp > 0 ? layer.group(plan.expert_tp, o.tensor) : g.tensor;
    g.context = layer.group(plan.cp, o.context);
    g.data = layer.group(plan.dp, o.data, plan.cp, o.context);
    // n of the data and context ranks, context first (n divides dp x cp), and those that hold the same as rank 0 of them.
    const auto part = [&](int n) {
        const int c = std::gcd(n, plan.cp), d = n / c;
        return std::pair{layer.group(c, o.context, d, o.data), layer.group(plan.cp / c, o.context * c, plan.dp / d, o.data * d)};
    };
    std::tie(g.expert, g.expert_data) = part(plan.ep);
    std::tie(g.shard, g.replicas) = part(plan.shard_ranks());
    g.pipeline = plan.pp > 1 ? layer.group(2, o.pipeline) : Group{};
    return g;
}

}  // namespace sextant
