// Which plans a search looks at: the values of each field of a plan, and which of them go together. docs/model/search.md describes the
// space and says why it is enough.
//
// Fields are chosen one level after the other, each level within what the levels above it have fixed:
//
//     cut         tp, cp, ep, expert_tp                 what one device computes of a layer
//     layout      pp, dp, placement                     which ranks communicate, and where they are
//     sharing     data_parallel, shard_group, offload   who keeps weights, gradients and states
//     shape       micro_batch, sequence_parallel        how large the work is
//     schedule    schedule, vpp                         in which order stages work
//
// Two fields are solved inside each of these points: how many blocks run forward again (as few as fit in memory), and how many blocks each
// stage holds (model/search/stage_split.hpp).
#pragma once

#include "model/base/enum_array.hpp"
#include "model/plan/scenario.hpp"

#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace sextant {

// The fields that a search may choose, named as in a scenario's plan, in the order of the levels above. Batch, precision, optimizer and
// whatever else a plan says are the job's.
enum class PlanField {
    dp,
    tp,
    pp,
    cp,
    ep,
    expert_tp,
    placement,
    data_parallel,
    shard_group,
    offload,
    micro_batch,
    sequence_parallel,
    schedule,
    vpp,
    stage_blocks,
    recompute,
};
inline constexpr int plan_field_count = static_cast<int>(PlanField::recompute) + 1;
inline constexpr auto all_plan_fields = enumerators<PlanField, plan_field_count>();
std::string_view to_text(PlanField);
std::optional<PlanField> plan_field(std::string_view name);

// The plans on a number of devices. Pinned fields are as in the job's plan.
struct PlanSpace {
    Scenario job;
    std::set<PlanField> pinned;
    int devices = 1;
    int blocks = 1, layers = 1;  // of the network

    [[nodiscard]] bool is_free(PlanField field) const { return !pinned.contains(field); }
};
// Throws InputError where the workload cannot be built.
PlanSpace plan_space(Scenario job, std::set<PlanField> pinned, int devices);

// The values of one level: the plan given, with this level's fields set. Simpler plans come first.
std::vector<Plan> cuts(const PlanSpace&);
std::vector<Plan> layouts(const PlanSpace&, const Plan& cut);
std::vector<Plan> sharings(const PlanSpace&, const Plan& layout);
std::vector<Plan> shapes(const PlanSpace&, const Plan& layout);
std::vector<Plan> schedules(const PlanSpace&, const Plan& shape);

// The placements of a plan's ranks that are looked at; at most most_placements.
std::vector<std::vector<PlanDimension>> placements(const PlanSpace&, const Plan&);
inline constexpr int most_placements = 3;

// Whether the framework can use the nodes that so many devices stand on.
bool reaches_all(const PlanSpace&);

// Whether there is any plan by which the network can be cut.
bool has_plans(const PlanSpace&);

// The kinds of recompute to start from: nothing, or the attention core.
std::vector<Plan> recompute_families(const PlanSpace&, const Plan&);
// The recompute setting with which this many blocks of each stage run forward again, where a stage has at most `layers`. None where that is
// not for the search to choose.
struct RecomputeSetting {
    Recompute recompute = Recompute::none;
    int blocks = 0;
};
std::optional<RecomputeSetting> recompute_setting(const PlanSpace&, const Plan& family, int blocks, int layers);

}  // namespace sextant
