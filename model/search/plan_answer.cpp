#include "model/search/plan_answer.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Why there is no plan of so many devices: what speaks against the job's own.
[[noreturn]] void refuse(const SearchRequest& request) {
    std::vector<Diagnostic> problems = try_plan(request.job, request.job.plan).impossible;
    std::string pins;
    for (const PlanField field : request.pinned) pins += (pins.empty() ? "" : ", ") + std::string(to_text(field));
    std::string sizes;
    for (const int n : request.devices) sizes += (sizes.empty() ? "" : ", ") + std::to_string(n);
    if (sizes.empty()) sizes = std::to_string(request.job.plan.devices());
    problems.insert(
        problems.begin(),
        {request.job.file, "/plan", "no plan is possible on " + sizes + " devices" + (pins.empty() ? "" : " with what is pinned: " + pins),
         pins.empty() ? "other numbers of devices, or another global batch" : "pin less"});
    throw InputError(std::move(problems));
}

}  // namespace

PlanAnswer answer_of(const PlanQuestion& question, const SearchResult& found) {
    const SearchRequest& request = question.search;
    if (found.complete && found.counts.all() == 0) refuse(request);
    PlanAnswer answer;
    answer.request = request;
    answer.counts = found.counts;
    answer.complete = found.complete;
    answer.front = found.front;
    answer.smallest = found.smallest;
    answer.own = try_plan(request.job, question.own);
    for (const PlanChoice& choice : found.best)
        answer.best.push_back({choice, make_report(prepare(with_plan(request.job, choice.plan))), {}});
    return answer;
}

void add_advice(PlanAnswer& answer, const std::function<bool(double done)>& progress) {
    if (!progress(0)) return;
    if (answer.best.empty()) {
        if (!answer.all_ruled_out()) answer.remedies = remedies(answer.request);
        return;
    }
    const Plan& best = answer.best.front().choice.plan;
    answer.changes = changes_of_one_field(answer.request.job, best);
    if (progress(0.5)) answer.alternatives = obvious_alternatives(answer.request, best);
}

}  // namespace sextant
