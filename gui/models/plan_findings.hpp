// The findings of a search for plans: the answer, and the price of every plan that can be selected.
#pragma once

#include "gui/models/plan_form.hpp"
#include "gui/models/table_model.hpp"

namespace sextant::gui {

struct FoundPlan {
    QString name;  // "plan 3", "plan on the front", "the scenario's own"
    PlanChoice choice;
    std::optional<int> rank;  // among the best, from 0
    bool on_front = false, is_own = false;
    Estimate estimate;
    std::optional<Seconds> simulated;
};

struct PlanFindings {
    PlanForm form;  // the question
    PlanAnswer answer;
    Seconds took;
    // The best plans first, with the scenario's own at its rank, or behind them where it does not fit. Then the other plans on the front.
    std::vector<FoundPlan> plans;
    std::size_t listed = 0;  // how many come before the other plans on the front

    [[nodiscard]] std::size_t first() const;  // the place of plan 1, which the scenario's own may precede
    [[nodiscard]] bool is_passed() const;     // the scenario's own plan is better than the best that was found
};

PlanFindings findings_of(const PlanForm&, PlanAnswer, Seconds took);

// The place of this plan among the findings, such as one that was opened; none where it is not among them.
std::optional<std::size_t> place_of(const PlanFindings&, const Plan&);
// Whether the open plan is the scenario's own, with which the search began.
bool is_own_open(const PlanFindings&, std::optional<std::size_t> open);
// The name of a plan while `open` is open: "the scenario's own" is called otherwise once another plan was opened.
QString name_of(const PlanFindings&, std::size_t plan, std::optional<std::size_t> open);
// A sentence that compares plan 1 with the scenario's own plan.
QString own_sentence(const PlanFindings&, std::optional<std::size_t> open);

// "385 plans evaluated, 1363 do not fit, 1103 pruned by a bound; 50.5 ms"
QString counts_line(const PlanFindings&);

// For CSV: every plan with its fields, results and terms.
Table found_plans_table(const PlanFindings&);
// The plans side by side, with a row for everything in which they differ. `open`: see name_of.
Table beside_table(const PlanFindings&, const std::vector<std::size_t>& which, std::optional<std::size_t> open);
// Why the obvious plans lose, or, where nothing fits, what would make the job fit.
Table alternatives_table(const PlanAnswer&);
Table remedies_table(const PlanAnswer&);

}  // namespace sextant::gui
