#include "model/search/advice.hpp"
#include "model/search/plan_fields.hpp"

#include "model/plan/partition.hpp"

#include <algorithm>

namespace sextant {
namespace {

struct ObviousPlan {
    ObviousKind kind;
    Plan plan;                   // has the values that make it of this kind
    std::set<PlanField> fields;  // which those are
};

Plan undivided(const Plan& best) {
    Plan p = best;
    p.tp = p.cp = p.pp = p.ep = p.vpp = 1;
    p.micro_batch = 1;
    p.expert_tp = 0;
    p.offload = Offload::none;
    p.data_parallel = DataParallel::all_reduce;
    return p;
}

bool can_be(const Scenario& job, const Plan& plan) {
    try {
        cut_network(with_plan(job, plan));
        return check_plan(with_plan(job, plan)).empty();
    } catch (const InputError&) {
        return false;
    }
}

// The fewest tensor ranks that a node has no room for, of those that the network can be cut into; else of those that divide the devices.
std::optional<ObviousPlan> tensor_over_nodes(const PlanSpace& space, const Plan& best) {
    const int in_node = used_devices_per_node(space.job);
    if (!space.job.workload.is_transformer() || space.devices <= in_node || best.tp > in_node) return {};
    std::optional<Plan> first;
    for (int tp = in_node + 1; tp <= std::min(space.devices, 4 * in_node); ++tp) {
        if (space.devices % tp != 0) continue;
        Plan plan = best;
        plan.tp = tp;
        // The devices come from data parallelism where there are enough, else from the pipeline.
        while (plan.pp > 1 && space.devices % (plan.tp * plan.pp * plan.cp) != 0) plan.pp /= 2;
        plan = completed(space, plan);
        if (can_be(space.job, plan)) return ObviousPlan{ObviousKind::tensor_over_nodes, plan, {PlanField::tp}};
        if (!first) first = plan;
    }
    if (!first) return {};
    return ObviousPlan{ObviousKind::tensor_over_nodes, *first, {PlanField::tp}};
}

std::optional<ObviousPlan> deepest_pipeline(const PlanSpace& space, const Plan& best) {
    Plan plan = undivided(best);
    for (int pp = 2; pp <= std::min(space.devices, space.blocks); ++pp)
        if (space.devices % pp == 0) plan.pp = pp;
    if (plan.pp == 1) return {};
    using enum PlanField;
    return ObviousPlan{ObviousKind::pipeline, plan, {tp, cp, pp, ep, expert_tp, data_parallel, offload}};
}

std::vector<ObviousPlan> obvious_plans(const PlanSpace& space, const Plan& best) {
    using enum PlanField;
    const std::set<PlanField> whole{tp, cp, pp, ep, expert_tp, data_parallel, offload};
    std::vector<ObviousPlan> all{{ObviousKind::data_parallel, undivided(best), whole}};
    if (space.devices > 1) {
        Plan sharded = undivided(best);
        sharded.data_parallel = DataParallel::zero3;
        all.push_back({ObviousKind::fully_sharded, sharded, whole});
    }
    if (auto kind = tensor_over_nodes(space, best)) all.push_back(std::move(*kind));
    if (auto kind = deepest_pipeline(space, best)) all.push_back(std::move(*kind));
    if (best.recompute != Recompute::none) {
        Plan keeps = best;
        keeps.recompute = Recompute::none;
        keeps.recompute_blocks = 0;
        all.push_back({ObviousKind::no_recompute, keeps, {recompute}});
    }
    return all;
}

// None where the search for it was stopped.
std::optional<Alternative> best_of(const SearchRequest& request, const PlanSpace& space, const ObviousPlan& kind, const Plan& best,
                                   const GoOn& go_on) {
    const bool is_the_best = std::ranges::all_of(kind.fields, [&](PlanField field) { return same_field(field, kind.plan, best); });
    if (is_the_best) return Alternative{kind.kind, try_plan(request.job, best), true};
    SearchRequest of_kind = request;
    of_kind.devices = {space.devices};
    of_kind.global_batches = {best.global_batch};
    of_kind.top = 1;
    of_kind.where.clear();
    of_kind.pinned.insert(kind.fields.begin(), kind.fields.end());
    of_kind.pinned.erase(PlanField::dp);  // follows
    of_kind.job.plan = completed(space, kind.plan);
    try {
        const SearchResult found = search(of_kind, [&](const SearchProgress&) { return !go_on || go_on(); });
        if (!found.complete) return {};
        if (!found.best.empty()) return Alternative{kind.kind, try_plan(request.job, found.best.front().plan), false};
        if (found.smallest) return Alternative{kind.kind, try_plan(request.job, found.smallest->plan), false};
    } catch (const InputError&) {  // there is none of this kind: the plan at hand tells why
    }
    return Alternative{kind.kind, try_plan(request.job, of_kind.job.plan), false};
}

}  // namespace

std::vector<Alternative> obvious_alternatives(const SearchRequest& request, const Plan& best, const GoOn& go_on) {
    const PlanSpace space = plan_space(with_plan(request.job, best), {}, best.devices());
    std::vector<Alternative> all;
    if (best.has_servers()) return all;
    for (const ObviousPlan& kind : obvious_plans(space, best)) {
        std::optional<Alternative> found = best_of(request, space, kind, best, go_on);
        if (!found) break;
        all.push_back(std::move(*found));
    }
    return all;
}

}  // namespace sextant
