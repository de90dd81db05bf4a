#include "model/search/plan_fields.hpp"

#include <algorithm>
#include <type_traits>

namespace sextant {
namespace {

// Calls `act` on the field of both plans: some fields of a plan are written as one and kept as two.
template <class OtherPlan, class Act>
void with_field(PlanField field, const Plan& a, OtherPlan& b, const Act& act) {
    switch (field) {
        case PlanField::dp: return act(a.dp, b.dp);
        case PlanField::tp: return act(a.tp, b.tp);
        case PlanField::pp: return act(a.pp, b.pp);
        case PlanField::cp: return act(a.cp, b.cp);
        case PlanField::ep: return act(a.ep, b.ep);
        case PlanField::expert_tp: return act(a.expert_tp, b.expert_tp);
        case PlanField::placement: return act(a.placement, b.placement);
        case PlanField::data_parallel: return act(a.data_parallel, b.data_parallel);
        case PlanField::shard_group: return act(a.shard_group, b.shard_group);
        case PlanField::offload: return act(a.offload, b.offload);
        case PlanField::micro_batch: return act(a.micro_batch, b.micro_batch);
        case PlanField::sequence_parallel: return act(a.sequence_parallel, b.sequence_parallel);
        case PlanField::schedule: return act(a.schedule, b.schedule);
        case PlanField::vpp: return act(a.vpp, b.vpp);
        case PlanField::stage_blocks: return act(a.stage_blocks, b.stage_blocks);
        case PlanField::recompute: act(a.recompute, b.recompute); return act(a.recompute_blocks, b.recompute_blocks);
    }
}

void complete_schedule(const PlanSpace& space, Plan& plan) {
    if (plan.pp == 1 && plan.schedule != Schedule::sequential) plan.schedule = Schedule::one_f_one_b;
    if (turns_back(plan.schedule) && 2 * plan.pp > space.blocks) plan.schedule = Schedule::one_f_one_b;
    if (plan.schedule != Schedule::interleaved) {
        plan.vpp = turns_back(plan.schedule) ? 2 : 1;
    } else {
        plan.vpp = std::min(std::max(2, plan.vpp), space.blocks / plan.pp);
        if (plan.vpp < 2) {
            plan.schedule = Schedule::one_f_one_b;
            plan.vpp = 1;
        }
    }
    if (plan.stage_blocks.size() != static_cast<std::size_t>(plan.pp) * static_cast<std::size_t>(plan.vpp)) plan.stage_blocks.clear();
}

void complete_batch(Plan& plan) {
    if (plan.global_batch % plan.dp != 0) return;
    const std::int64_t samples = plan.global_batch / plan.dp;
    plan.micro_batch = std::min(plan.micro_batch, samples);
    while (samples % plan.micro_batch != 0) --plan.micro_batch;
}

}  // namespace

void copy_field(PlanField field, const Plan& from, Plan& to) {
    with_field(field, from, to, [](const auto& a, auto& b) { b = a; });
}

bool same_field(PlanField field, const Plan& a, const Plan& b) {
    bool same = true;
    with_field(field, a, b, [&](const auto& x, const auto& y) { same = same && x == y; });
    return same;
}

std::string pin_text(PlanField field, const Plan& plan) {
    std::string text(to_text(field));
    with_field(field, plan, plan, [&]<class Value>(const Value& value, const Value&) {
        if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) text += "=" + std::to_string(value);
    });
    return field == PlanField::recompute ? std::string(to_text(field)) : text;
}

Plan completed(const PlanSpace& space, Plan plan) {
    plan.dp = std::max(1, space.devices / std::max(1, plan.tp * plan.pp * plan.cp));
    if (plan.tp == 1) plan.sequence_parallel = false;
    if (plan.expert_tp > 0 && plan.tp % plan.expert_tp != 0) plan.expert_tp = 0;
    if (plan.shard_group && (!plan.has_shards() || plan.dp * plan.cp % *plan.shard_group != 0)) plan.shard_group.reset();
    complete_batch(plan);
    complete_schedule(space, plan);
    return plan;
}

}  // namespace sextant
