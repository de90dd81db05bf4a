#include "model/search/plan_answer.hpp"

#include "model/search/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

std::optional<std::size_t> place_among(const std::vector<PlanChoice>& best, const SearchRequest& request, const TriedPlan& own) {
    if (!own.fits()) return {};
    const Ranking ranking(request);
    const PlanChoice choice = plan_choice(with_plan(request.job, own.plan), own.estimate->terms, own.estimate->peak_memory);
    const auto worse = std::ranges::partition_point(best, [&](const PlanChoice& c) { return !ranking.is_better(choice, c); });
    return static_cast<std::size_t>(worse - best.begin());
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
    answer.own_place = place_among(found.best, request, answer.own);
    for (const PlanChoice& choice : found.best)
        answer.best.push_back({choice, make_report(prepare(with_plan(request.job, choice.plan))), {}, other_placements(request, choice)});
    return answer;
}

void order_ties(PlanAnswer& answer) {
    const Ranking ranking(answer.request);
    // How much longer than by the closed form; to a millionth, below which the simpler plan stays first.
    const auto longer = [](const RankedPlan& r) {
        return r.simulated ? std::llround(1e6 * (*r.simulated / r.choice.step)) : std::numeric_limits<long long>::max();
    };
    for (auto first = answer.best.begin(); first != answer.best.end();) {
        const auto end =
            std::find_if(first, answer.best.end(), [&](const RankedPlan& r) { return !ranking.ties(first->choice, r.choice); });
        std::stable_sort(first, end, [&](const RankedPlan& a, const RankedPlan& b) { return longer(a) < longer(b); });
        first = end;
    }
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
