// Where each rank of a plan stands: its place in every dimension, its device, and the groups that it communicates with.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/plan/scenario.hpp"
#include "model/workload/operator.hpp"

#include <vector>

namespace sextant {

struct RankPlace {
    int data = 0, tensor = 0, context = 0, pipeline = 0;
};

// Ranks are numbered in the order of the plan's placement, fastest dimension first, and fill nodes in that order.
class RankLayout {
public:
    // A group is a product of strided ranges of ranks.
    struct Range {
        int count = 1, stride = 1;
        friend bool operator==(const Range&, const Range&) = default;
    };

    // `nodes`, each of `node_devices` devices, are those of the topology.
    RankLayout(const Plan&, int nodes, int node_devices);

    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] RankPlace place_of(int rank) const;
    [[nodiscard]] int rank_at(const RankPlace&) const;

    // The device of a rank: node x node_devices + its number there. Ranks that a scheduler scattered are dealt to the nodes in turn, which
    // is the worst case.
    [[nodiscard]] int device_of(int rank) const;
    [[nodiscard]] int node_of(int rank) const { return device_of(rank) / node_devices_; }

    [[nodiscard]] const std::vector<Range>& ranges(ParallelGroup g) const { return ranges_[g]; }
    [[nodiscard]] int size_of(ParallelGroup) const;
    // The group that a rank belongs to, the rank itself included.
    [[nodiscard]] std::vector<int> group_of(int rank, ParallelGroup) const;
    // All groups of this kind: every rank is in one. The first has rank 0.
    [[nodiscard]] std::vector<std::vector<int>> groups(ParallelGroup) const;

private:
    int ranks_ = 1, nodes_ = 1, node_devices_ = 1, per_node_ = 1;
    bool scattered_ = false;
    std::vector<int> first_ranks_;  // of each node, where ranks are spread unevenly
    RankPlace size_, stride_;       // of each dimension
    EnumArray<ParallelGroup, std::vector<Range>, parallel_group_count> ranges_;
};

// Of the ranks of a scenario, on the nodes that they fill.
RankLayout layout_of(const Scenario&);

}  // namespace sextant
