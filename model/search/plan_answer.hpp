// The whole answer to "what is the best plan for this job?": what a search found, with reports and advice beside it.
#pragma once

#include "model/search/advice.hpp"

namespace sextant {

struct PlanQuestion {
    SearchRequest search;
    Plan own;               // the job's own plan, to compare with
    bool simulated = true;  // play the best plans event by event, if their steps are small enough
};

struct RankedPlan {
    PlanChoice choice;
    Report report;
    std::optional<Seconds> simulated;  // step time by the event simulator
    // Other placements of its ranks that make the step no more than a thousandth longer.
    std::vector<std::vector<PlanDimension>> other_placements;
};

struct PlanAnswer {
    SearchRequest request;
    SearchCounts counts;
    bool complete = true;                // false: stopped before its end, best so far
    std::vector<RankedPlan> best;        // best first
    std::vector<PlanChoice> front;       // by throughput, highest first
    std::optional<PlanChoice> smallest;  // where no plan fits
    NearestValues nearest;               // where conditions rule out all plans that fit
    TriedPlan own;
    std::optional<std::size_t> own_place;  // how many of the best are no worse than the job's own plan; none where that does not fit
    std::vector<PlanChange> changes;       // of the best plan
    std::vector<Alternative> alternatives;
    std::vector<Remedy> remedies;  // where no plan fits

    // Plans fit, and only the request's conditions rule them out.
    [[nodiscard]] bool all_ruled_out() const { return best.empty() && counts.priced > 0; }
};

// What the search found, with a report on each of the best plans.
PlanAnswer answer_of(const PlanQuestion&, const SearchResult&);

// Puts plans that the closed form cannot tell apart in the order of their simulated steps.
void order_ties(PlanAnswer&);

// Fills in changes and alternatives, or remedies. `progress` is called with the fraction that is done;
// false stops, and what was filled in stays.
void add_advice(PlanAnswer&, const std::function<bool(double done)>& progress);

}  // namespace sextant
