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
    std::vector<FoundPlan> plans;  // the best, best first; then what else is on the front; then the scenario's own, where it can be
};

PlanFindings findings_of(const PlanForm&, PlanAnswer, Seconds took);

// "385 priced, 1363 do not fit, 1103 ruled out by a bound; 50.5 ms"
QString counts_line(const PlanFindings&);
// "as it is asked by the command line": what the search is ranked by, in words.
QString ranked_by(Objective);

// For CSV: every plan with its fields, what it comes to and its terms.
Table found_plans_table(const PlanFindings&);
// The plans beside one another, a row each thing in which they differ.
Table beside_table(const PlanFindings&, const std::vector<std::size_t>& which);
// Why not the obvious, or what would make a job fit that does not.
Table alternatives_table(const PlanAnswer&);
Table remedies_table(const PlanAnswer&);

}  // namespace sextant::gui
