// What a search for plans found: the answer, and every plan that can be pointed at, priced.
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
    PlanForm form;  // that was asked
    PlanAnswer answer;
    Seconds took;
    // The best, best first, and among them the scenario's own where it can be: where it would stand, or behind them where it does not fit.
    // Then what else is on the front.
    std::vector<FoundPlan> plans;
    std::size_t listed = 0;  // those before what else is on the front

    [[nodiscard]] std::size_t first() const;  // plan 1: the scenario's own may be before it
    [[nodiscard]] bool is_passed() const;     // the scenario's own stands before the best that was found
};

PlanFindings findings_of(const PlanForm&, PlanAnswer, Seconds took);

// Which of the plans this one is, as after it was opened; none where it is another.
std::optional<std::size_t> place_of(const PlanFindings&, const Plan&);
// Is the plan that is open the scenario's own, as the search met it? Not once one of the others was opened.
bool is_own_open(const PlanFindings&, std::optional<std::size_t> open);
// What a plan is called while another is open: "the scenario's own" is so no longer once one of the others was opened.
QString name_of(const PlanFindings&, std::size_t plan, std::optional<std::size_t> open);
// What plan 1 is against the scenario's own plan, in a sentence.
QString own_sentence(const PlanFindings&, std::optional<std::size_t> open);

// "385 plans evaluated, 1363 do not fit, 1103 pruned by a bound; 50.5 ms"
QString counts_line(const PlanFindings&);
// "as it is asked by the command line": what the search is ranked by, in words.
QString ranked_by(Objective);

// For CSV: every plan with its fields, what it comes to and its terms.
Table found_plans_table(const PlanFindings&);
// The plans beside one another, a row each thing in which they differ. `open`: see name_of.
Table beside_table(const PlanFindings&, const std::vector<std::size_t>& which, std::optional<std::size_t> open);
// Why not the obvious, or what would make a job fit that does not.
Table alternatives_table(const PlanAnswer&);
Table remedies_table(const PlanAnswer&);

}  // namespace sextant::gui
