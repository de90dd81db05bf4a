#include "model/search/plan_answer.hpp"

namespace sextant {
namespace {

std::vector<std::vector<PlanDimension>> other_placements(const SearchRequest& request, const PlanChoice& choice) {
    constexpr double as_long = 1.001;
    std::vector<std::vector<PlanDimension>> others = placements(plan_space(request.job, request.pinned, choice.devices), choice.plan);
    std::erase_if(others, [&](const std::vector<PlanDimension>& placement) {
        Plan plan = choice.plan;
        plan.placement = placement;
        if (placement == choice.plan.placement) return true;
        const TriedPlan tried = try_plan(request.job, plan);
        return !tried.fits() || tried.estimate->step > as_long * choice.step;
    });
    return others;
}

}  // namespace

PlanAnswer answer_of(const PlanQuestion& question, const SearchResult& found) {
    const SearchRequest& request = question.search;
    PlanAnswer answer;
    answer.request = request;
    answer.counts = found.counts;
    answer.complete = found.complete;
    answer.front = found.front;
    answer.smallest = found.smallest;
    answer.nearest = found.nearest;
    answer.own = try_plan(request.job, question.own);
    for (const PlanChoice& choice : found.best)
        answer.best.push_back({choice, make_report(prepare(with_plan(request.job, choice.plan))), {}, other_placements(request, choice)});
    return answer;
}

void add_advice(PlanAnswer& answer, const std::function<bool(double done)>& progress) {
    if (!progress(0)) return;
    if (answer.best.empty()) {
        if (!answer.all_ruled_out()) answer.remedies = remedies(answer.request, [&] { return progress(0); });
        return;
    }
    const Plan& best = answer.best.front().choice.plan;
    answer.changes = changes_of_one_field(answer.request.job, best);
    constexpr double half = 0.5;
    if (progress(half)) answer.alternatives = obvious_alternatives(answer.request, best, [&] { return progress(half); });
}

}  // namespace sextant
