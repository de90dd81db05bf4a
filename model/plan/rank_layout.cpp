#include "model/plan/rank_layout.hpp"

#include "model/plan/partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sextant {
namespace {

RankPlace strides(const Plan& plan) {
    RankPlace stride;
    int next = 1;
    const auto place = [&](PlanDimension d) {
        switch (d) {
            case PlanDimension::tensor:
                stride.tensor = next;
                next *= plan.tp;
                break;
            case PlanDimension::context:
                stride.context = next;
                next *= plan.cp;
                break;
            case PlanDimension::data:
                stride.data = next;
                next *= plan.dp;
                break;
            case PlanDimension::pipeline:
                stride.pipeline = next;
                next *= plan.pp;
                break;
            case PlanDimension::expert: break;  // experts live on ranks of the others, as below
        }
    };
    for (const PlanDimension d : plan.placement) place(d);
    for (const PlanDimension d : {PlanDimension::tensor, PlanDimension::context, PlanDimension::data, PlanDimension::pipeline})
        if (std::find(plan.placement.begin(), plan.placement.end(), d) == plan.placement.end()) place(d);
    return stride;
}

}  // namespace

RankLayout::RankLayout(const Plan& plan, int nodes, int node_devices)
    : ranks_(plan.devices()),
      nodes_(nodes),
      node_devices_(node_devices),
      per_node_(std::min(plan.devices_per_node.value_or(node_devices), node_devices)),
      scattered_(plan.scattered),
      size_{plan.dp, plan.tp, plan.cp, plan.pp},
      stride_(strides(plan)) {
    for (int first = 0; const int here : plan.node_ranks) first_ranks_.push_back(std::exchange(first, first + here));
    const RankPlace& s = stride_;
    const auto is = [&](ParallelGroup g, std::vector<Range> ranges) {
        std::erase_if(ranges, [](const Range& r) { return r.count < 2; });
        ranges_[g] = std::move(ranges);
    };
    is(ParallelGroup::tensor, {{plan.tp, s.tensor}});
    is(ParallelGroup::context, {{plan.cp, s.context}});
    is(ParallelGroup::pipeline, {{plan.pp, s.pipeline}});
    is(ParallelGroup::data, {{plan.cp, s.context}, {plan.dp, s.data}});
    // Experts take the tensor ranks that an expert leaves, then the context and the data ranks.
    const int inside = plan.expert_tensor();
    const int of_tensor = std::gcd(plan.ep, std::max(1, plan.tp / inside));
    const int of_context = std::gcd(plan.ep / of_tensor, plan.cp);
    const int of_data = std::max(1, plan.ep / (of_tensor * of_context));
    is(ParallelGroup::expert_tensor, {{inside, s.tensor}});
    is(ParallelGroup::expert, {{of_tensor, s.tensor * inside}, {of_context, s.context}, {of_data, s.data}});
    is(ParallelGroup::expert_data, {{plan.tp / (inside * of_tensor), s.tensor * inside * of_tensor},
                                    {plan.cp / of_context, s.context * of_context},
                                    {plan.dp / of_data, s.data * of_data}});
    // Shards of hybrid ZeRO take context ranks, then data ranks; those left over hold the same shard.
    const int shard_context = std::gcd(plan.shard_ranks(), plan.cp), shard_data = plan.shard_ranks() / shard_context;
    is(ParallelGroup::shard, {{shard_context, s.context}, {shard_data, s.data}});
    is(ParallelGroup::replicas, {{plan.cp / shard_context, s.context * shard_context}, {plan.dp / shard_data, s.data * shard_data}});
}

RankPlace RankLayout::place_of(int rank) const {
    return {rank / stride_.data % size_.data, rank / stride_.tensor % size_.tensor, rank / stride_.context % size_.context,
            rank / stride_.pipeline % size_.pipeline};
}

int RankLayout::rank_at(const RankPlace& p) const {
    return p.data * stride_.data + p.tensor * stride_.tensor + p.context * stride_.context + p.pipeline * stride_.pipeline;
}

int RankLayout::device_of(int rank) const {
    if (!first_ranks_.empty()) {
        const auto node = std::ranges::upper_bound(first_ranks_, rank) - first_ranks_.begin() - 1;
        return static_cast<int>(node) * node_devices_ + rank - first_ranks_[static_cast<std::size_t>(node)];
    }
    const int node = scattered_ ? rank % nodes_ : rank / per_node_;
    const int local = scattered_ ? rank / nodes_ : rank % per_node_;
    return node * node_devices_ + local;
}

int RankLayout::size_of(ParallelGroup g) const {
    int n = 1;
    for (const Range& r : ranges(g)) n *= r.count;
    return n;
}

std::vector<int> RankLayout::group_of(int rank, ParallelGroup g) const {
    int base = rank;
    for (const Range& r : ranges(g)) base -= rank / r.stride % r.count * r.stride;
    std::vector<int> list{base};
    for (const Range& r : ranges(g)) {
        const std::size_t before = list.size();
        for (int i = 1; i < r.count; ++i)
            for (std::size_t j = 0; j < before; ++j) list.push_back(list[j] + i * r.stride);
    }
    return list;
}

std::vector<std::vector<int>> RankLayout::groups(ParallelGroup g) const {
    std::vector<std::vector<int>> all;
    std::vector<bool> seen(static_cast<std::size_t>(ranks_));
    for (int r = 0; r < ranks_; ++r) {
        if (seen[static_cast<std::size_t>(r)]) continue;
        all.push_back(group_of(r, g));
        for (const int m : all.back()) seen[static_cast<std::size_t>(m)] = true;
    }
    return all;
}

RankLayout layout_of(const Scenario& s) { return {s.plan, used_nodes(s), s.cluster.node.devices}; }

}  // namespace sextant
