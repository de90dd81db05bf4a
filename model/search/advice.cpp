#include "model/search/advice.hpp"

#include "model/plan/plan_features.hpp"
#include "model/search/plan_fields.hpp"

#include <algorithm>

namespace sextant {
namespace {

// The divisors of n next below and next above d, nearest first.
struct Neighbours {
    std::vector<std::int64_t> below, above;
};
Neighbours neighbours(std::int64_t n, std::int64_t d) {
    constexpr std::size_t enough = 3;
    Neighbours found;
    for (std::int64_t below = d - 1; below >= 1 && found.below.size() < enough; --below)
        if (n % below == 0) found.below.push_back(below);
    for (std::int64_t above = d + 1; above <= n && found.above.size() < enough; ++above)
        if (n % above == 0) found.above.push_back(above);
    return found;
}

// Plans with one field at another value, completed and tried.
class Neighbourhood {
public:
    Neighbourhood(const PlanSpace& space, const Plan& plan) : space_(space), plan_(plan) {}

    std::vector<TriedPlan> of(PlanField field) {
        tried_.clear();
        const auto* transformer = space_.job.workload.transformer();
        const bool experts = transformer && transformer->moe;
        switch (field) {
            case PlanField::dp: break;
            case PlanField::tp: degrees(&Plan::tp, std::int64_t{plan_.tp} * plan_.dp); break;
            case PlanField::pp: degrees(&Plan::pp, std::int64_t{plan_.pp} * plan_.dp); break;
            case PlanField::cp:
                if (transformer) degrees(&Plan::cp, std::int64_t{plan_.cp} * plan_.dp);
                break;
            case PlanField::ep:
                if (experts) degrees(&Plan::ep, transformer->moe->experts);
                break;
            case PlanField::expert_tp:
                if (experts && plan_.tp > 1) values(&Plan::expert_tp, {0, 1});
                break;
            case PlanField::micro_batch: degrees(&Plan::micro_batch, plan_.global_batch / plan_.dp); break;
            case PlanField::schedule: schedules(); break;
            case PlanField::vpp: chunks(); break;
            case PlanField::stage_blocks:
                if (!plan_.stage_blocks.empty()) values(&Plan::stage_blocks, {std::vector<int>{}});
                break;
            case PlanField::placement:
                using enum PlanDimension;
                if (plan_.pp > 1 && plan_.dp > 1)
                    values(&Plan::placement, {std::vector{tensor, context, data, pipeline}, std::vector{tensor, context, pipeline, data}});
                break;
            default: choices(field, transformer != nullptr);
        }
        return std::move(tried_);
    }

private:
    void add(const Plan& plan) { tried_.push_back(try_plan(space_.job, completed(space_, plan))); }

    template <class T>
    void values(T Plan::*field, std::initializer_list<T> all) {
        for (const T& value : all) {
            if (plan_.*field == value) continue;
            Plan p = plan_;
            p.*field = value;
            add(p);
        }
    }
    // The nearest that can be; where none can, why the very nearest cannot.
    template <class T>
    void nearest(T Plan::*field, const std::vector<std::int64_t>& sizes) {
        std::optional<TriedPlan> first;
        for (const std::int64_t size : sizes) {
            values(field, {static_cast<T>(size)});
            if (tried_.back().estimate) return;
            if (!first) first = std::move(tried_.back());
            tried_.pop_back();
        }
        if (first) tried_.push_back(std::move(*first));
    }
    template <class T>
    void degrees(T Plan::*field, std::int64_t of) {
        const Neighbours sizes = neighbours(of, plan_.*field);
        nearest(field, sizes.below);
        nearest(field, sizes.above);
    }
    void chunks() {
        if (plan_.pp == 1 || turns_back(plan_.schedule)) return;
        for (const int vpp : {plan_.vpp / 2, plan_.vpp * 2}) {
            if (vpp < 1 || plan_.pp * vpp > space_.blocks) continue;
            Plan p = plan_;
            p.vpp = vpp;
            p.schedule = vpp > 1 ? Schedule::interleaved : Schedule::one_f_one_b;
            add(p);
        }
    }
    void schedules() {
        if (plan_.pp == 1) return;
        using enum Schedule;
        for (const Schedule schedule : {one_f_one_b, gpipe, interleaved, zero_bubble, zero_bubble_v, dual_pipe_v}) {
            if (schedule == plan_.schedule) continue;
            Plan p = plan_;
            p.schedule = schedule;
            p = completed(space_, p);
            if (p.schedule != schedule) {  // too few blocks for its chunks: tried all the same, to tell why it cannot be
                p.schedule = schedule;
                p.vpp = 2;
            }
            tried_.push_back(try_plan(space_.job, p));
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
                if (!plan_.forward_only && !plan_.without_optimizer)
                    values(&Plan::offload, {Offload::none, Offload::optimizer, Offload::optimizer_and_parameters});
                break;
            case PlanField::sequence_parallel:
                if (is_transformer && plan_.tp > 1) values(&Plan::sequence_parallel, {false, true});
                break;
            case PlanField::recompute:
                if (plan_.forward_only) break;
                values(&Plan::recompute, {Recompute::none, Recompute::full});
                if (is_transformer) values(&Plan::recompute, {Recompute::selective});
                break;
            default: break;
        }
    }

    const PlanSpace& space_;
    const Plan& plan_;
    std::vector<TriedPlan> tried_;
};

}  // namespace

TriedPlan try_plan(const Scenario& job, const Plan& plan) {
    TriedPlan tried{plan, {}, missing_features(plan, job.framework, job.cluster), {}};
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
    for (const Term t : all_terms) {
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
    for (const PlanField field : all_plan_fields)
        for (TriedPlan& tried : neighbourhood.of(field)) changes.push_back({field, std::move(tried)});
    return changes;
}

}  // namespace sextant
