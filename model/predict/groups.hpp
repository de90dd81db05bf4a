// The groups in which the ranks of each pipeline stage communicate, laid on the topology, and which of them meet on its links.
// docs/model/collectives.md describes them. Internal to predict.
#pragma once

#include "model/base/failure.hpp"
#include "model/cost/collectives.hpp"
#include "model/plan/scenario.hpp"
#include "model/predict/in_layer.hpp"
#include "model/predict/link_sharing.hpp"
#include "model/predict/server_path.hpp"

#include <array>
#include <vector>

namespace sextant {

// The groups of one stage: of each kind the slowest, for which the others of that kind (ConcurrentGroups) wait. What crosses the boundaries
// of a pipeline is in StageGroups.
class JobGroups {
public:
    [[nodiscard]] Group& operator[](ParallelGroup which) { return of_[index(which)]; }
    [[nodiscard]] const Group& operator[](ParallelGroup which) const { return of_[index(which)]; }
    // How exchanges inside layers and exchanges of gradients (or of sharded weights) slow each other.
    ByInLayer<Slowed> beside_data;

private:
    static constexpr auto count = static_cast<std::size_t>(ParallelGroup::pipeline);
    static_assert(count + 1 == parallel_group_count);
    static std::size_t index(ParallelGroup which) {
        if (which == ParallelGroup::pipeline) broken_invariant("a stage has no group of pipeline parallelism");
        return static_cast<std::size_t>(which);
    }
    std::array<Group, count> of_;
};
// Whether exchanges inside layers take equally long in both, each by itself.
bool same_in_layers(const JobGroups&, const JobGroups&);

// The other stages with ranks on the nodes of a stage, and how many times as long its exchanges take while all of them exchange too.
struct StageMates {
    std::vector<std::size_t> stages;  // ascending
    ByInLayer<double> in_layers{{1, 1, 1}};
    double data = 1;
    [[nodiscard]] double data_of_each() const { return stages.empty() ? 0 : (data - 1) / static_cast<double>(stages.size()); }
    friend bool operator==(const StageMates&, const StageMates&) = default;
};

struct StageGroups {
    std::vector<JobGroups> kinds{1};      // stages that lie alike on their nodes are of one kind
    std::vector<std::size_t> kind_of{0};  // by stage
    std::vector<StageMates> mates{1};     // by stage
    // By stage, where there are several: pairs of its ranks with those of the next stage; for the last stage, with those of the first.
    std::vector<Group> boundaries;
    Group send;  // the boundary that sends are priced for: the first that leaves a node, else the first
    ServerPath to_servers{};

    [[nodiscard]] const JobGroups& operator[](std::size_t stage) const { return kinds[kind_of[stage]]; }
    // Whether a stage behind the first exchanges and sends as the one before it does.
    [[nodiscard]] bool as_before(std::size_t stage) const;
};

// Places ranks as the plan says and forms their groups, dimension by dimension.
//
// Nodes on which ranks are placed alike are looked at once (BlockLayout), so the time grows with the number of nodes and not with what
// their ranks do: tens to some hundreds of microseconds for 4,096 ranks, whatever the placement. It takes longer where less is alike: every
// rank is looked at where ranks do not repeat from node to node (a last node that is not full, groups that no number of whole nodes holds,
// a peer switch over such nodes); and where groups meet in a fabric narrower than their nodes, all groups that reach its leaves are looked
// at, in a dragonfly for each pair of leaves. One topology serves all plans on the same number of nodes.
//
// `in_layers`: only the groups that exchange inside layers, each alone on its links; no other groups, no mates, no boundaries.
enum class GroupScope { in_layers, all };
StageGroups lay_groups(const Scenario&, const Topology&, GroupScope = GroupScope::all);

}  // namespace sextant
