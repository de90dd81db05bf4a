#include "model/search/advice.hpp"

#include "model/search/plan_fields.hpp"

#include <algorithm>

namespace sextant {
namespace {

// The divisor of n next below and next above d.
std::vector<std::int64_t> neighbours(std::int64_t n, std::int64_t d) {
    std::vector<std::int64_t> both;
    for (std::int64_t below = d - 1; below >= 1; --below)
        if (n % below == 0) {
            both.push_back(below);
            break;
        }
    for (std::int64_t above = d + 1; above <= n; ++above)
        if (n % above == 0) {
            both.push_back(above);
            break;
        }
    return both;
}

// Plans with one field at another value, not yet completed.
class Neighbourhood {
public:
    Neighbourhood(const PlanSpace& space, const Plan& plan) : space_(space), plan_(plan) {}

    std::vector<Plan> of(PlanField field) {
        plans_.clear();
        const auto* transformer = std::get_if<TransformerSpec>(&space_.job.workload.spec);
        const bool experts = transformer && transformer->moe;
        switch (field) {
            case PlanField::dp:
                break;
            case PlanField::tp:
                degrees(&Plan::tp, plan_.tp * plan_.dp, 1);
                break;
            case PlanField::pp:
                degrees(&Plan::pp, plan_.pp * plan_.dp, 1);
                break;
            case PlanField::cp:
                if (transformer) degrees(&Plan::cp, plan_.cp * plan_.dp, 1);
                break;
            case PlanField::ep:
                if (experts) degrees(&Plan::ep, transformer->moe->experts, 1);
                break;
            case PlanField::expert_tp:
                if (experts && plan_.tp > 1) values(&Plan::expert_tp, {0, 1});
                break;
            case PlanField::micro_batch:
                degrees(&Plan::micro_batch, plan_.global_batch / plan_.dp, 1);
                break;
            case PlanField::vpp:
                chunks();
                break;
            case PlanField::stage_blocks:
                if (!plan_.stage_blocks.empty()) values(&Plan::stage_blocks, {std::vector<int>{}});
                break;
            case PlanField::placement:
                using enum PlanDimension;
                if (plan_.pp > 1 && plan_.dp > 1)
                    values(&Plan::placement, {std::vector{tensor, context, data, pipeline}, std::vector{tensor, context, pipeline, data}});
                break;
            default:
                choices(field, transformer != nullptr);
        }
        return plans_;
    }

private:
    template <class T>
    void values(T Plan::*field, std::initializer_list<T> all) {
        for (const T& value : all) {
            if (plan_.*field == value) continue;
            Plan& p = plans_.emplace_back(plan_);
            p.*field = value;
        }
    }
    template <class T>
    void degrees(T Plan::*field, std::int64_t of, std::int64_t least) {
        for (const std::int64_t n : neighbours(of, plan_.*field))
            if (n >= least) values(field, {static_cast<T>(n)});
    }
    void chunks() {
        if (plan_.pp == 1) return;
        for (const int vpp : {plan_.vpp / 2, plan_.vpp * 2}) {
            if (vpp < 1 || plan_.pp * vpp > space_.blocks) continue;
            Plan& p = plans_.emplace_back(plan_);
            p.vpp = vpp;
            p.schedule = vpp > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
            p.stage_blocks.clear();
        }
    }
    void choices(PlanField field, bool is_transformer) {
        using enum DataParallel;
        switch (field) {
            case PlanField::data_parallel:
                if (plan_.dp * plan_.cp > 1 && !plan_.has_servers()) values(&Plan::data_parallel, {all_reduce, zero1, zero2, zero3});
                break;
            case PlanField::shard_group:
                if (plan_.has_shards() && plan_.shard_group) values(&Plan::shard_group, {std::optional<int>{}});
                break;
            case PlanField::offload:
                if (!plan_.forward_only && !plan_.without_optimizer) values(&Plan::offload, {Offload::none, Offload::optimizer});
                break;
            case PlanField::sequence_parallel:
                if (is_transformer && plan_.tp > 1) values(&Plan::sequence_parallel, {false, true});
                break;
            case PlanField::schedule:
                if (plan_.pp > 1)
                    values(&Plan::schedule, {Schedule::one_f_one_b, Schedule::gpipe, Schedule::interleaved, Schedule::zero_bubble});
                break;
            case PlanField::recompute:
                if (!plan_.forward_only) values(&Plan::recompute, {Recompute::none, Recompute::selective, Recompute::full});
                break;
            default:
                break;
        }
    }

    const PlanSpace& space_;
    const Plan& plan_;
    std::vector<Plan> plans_;
};

}  // namespace

TriedPlan try_plan(const Scenario& job, const Plan& plan) {
    TriedPlan tried{plan, {}, {}};
    const Scenario scenario = with_plan(job, plan);
    tried.impossible = check_plan(scenario);
    if (!tried.impossible.empty()) return tried;
    try {
        tried.estimate = estimate(prepare(scenario));
    } catch (const InputError& e) {
        tried.impossible = e.diagnostics();
    }
    return tried;
}

std::optional<Term> most_grown(const Terms& from, const Terms& to) {
    std::optional<Term> most;
    Seconds largest = 1e-3 * to.total();
    for (int i = 0; i < term_count; ++i) {
        const Term t = static_cast<Term>(i);
        if (to[t] - from[t] <= largest) continue;
        largest = to[t] - from[t];
        most = t;
    }
    return most;
}

std::vector<PlanChange> changes_of_one_field(const Scenario& job, const Plan& plan) {
    const PlanSpace space = plan_space(job, {}, plan.devices());
    Neighbourhood neighbourhood(space, plan);
    std::vector<PlanChange> changes;
    for (const PlanField field : all_plan_fields())
        for (const Plan& neighbour : neighbourhood.of(field)) changes.push_back({field, try_plan(job, completed(space, neighbour))});
    return changes;
}

}  // namespace sextant
