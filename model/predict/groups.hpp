// The groups in which the ranks of each pipeline stage communicate, laid on the topology, and which of them meet on its links.
// docs/model/collectives.md describes them. Internal to predict.
#pragma once

#include "model/base/failure.hpp"
#include "model/cost/collectives.hpp"
#include "model/plan/scenario.hpp"
#include "model/predict/in_layer.hpp"
#include "model/predict/link_sharing.hpp"
#include "model/predict/server_way.hpp"

#include <array>
#include <vector>

namespace sextant {

// Of one stage: of each kind the slowest group, for which its sisters wait. What goes over the boundaries of a pipeline is in StageGroups.
class JobGroups {
public:
    [[nodiscard]] Group& operator[](ParallelGroup which) { return of_[index(which)]; }
    [[nodiscard]] const Group& operator[](ParallelGroup which) const { return of_[index(which)]; }
    // How exchanges inside layers and those of gradients, or of weights in shards, slow each other.
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
// Do exchanges inside layers take as long, each by itself?
bool same_in_layers(const JobGroups&, const JobGroups&);

// Other stages with ranks on the nodes of a stage, and how many times as long its exchanges take while all of them do the same.
struct StageMates {
    std::vector<std::size_t> stages;  // ascending
    ByInLayer<double> in_layers{{1, 1, 1}};
    double data = 1;
    [[nodiscard]] double data_of_each() const { return stages.empty() ? 0 : (data - 1) / static_cast<double>(stages.size()); }
    friend bool operator==(const StageMates&, const StageMates&) = default;
};

struct StageGroups {
    std::vector<JobGroups> unlike{1};   // stages that lie alike on their nodes share one
    std::vector<std::size_t> which{0};  // of these, by stage
    std::vector<StageMates> mates{1};   // by stage
    // By stage, where there are several: its ranks' pairs with those of the next one; of the last stage with those of the first.
    std::vector<Group> boundaries;
    Group send;  // the first boundary that leaves a node, else the first: sends are priced for it
    ServerWay to_servers{};

    [[nodiscard]] const JobGroups& operator[](std::size_t stage) const { return unlike[which[stage]]; }
    // Whether a stage behind the first exchanges and sends as the one before it does.
    [[nodiscard]] bool as_before(std::size_t stage) const;
};

// Ranks by the plan's placement, groups by dimension.
//
// Nodes on which ranks lie alike are looked at once (BlockLayout), so the time grows with the nodes and not with what their ranks do: tens
// to some hundreds of microseconds for 4,096 ranks, of any placement. It takes longer, to the same answer, where there is less to be alike:
// where ranks do not repeat from node to node (a last node that is not full, groups that no number of whole nodes holds, a peer switch over
// such nodes) every rank is looked at; and where groups meet in a fabric that is narrower than their nodes, all that reach its leaves are,
// in a dragonfly for each pair of its leaves. One topology serves all plans on as many nodes.
//
// `in_layers`: only the groups that exchange inside layers, alone on their links: no others, no mates, no boundaries.
enum class GroupsLaid { in_layers, all };
StageGroups lay_groups(const Scenario&, const Topology&, GroupsLaid = GroupsLaid::all);

}  // namespace sextant
