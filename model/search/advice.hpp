// What goes with the best plans: what changing one thing about a plan costs, why the obvious plans lose, and what would make a job fit that
// does not. Values; model/io writes them.
#pragma once

#include "model/predict/estimate.hpp"
#include "model/search/search.hpp"

#include <functional>

namespace sextant {

// A plan, and what it comes to: its time and memory, or why it is impossible.
struct TriedPlan {
    Plan plan;
    std::vector<Diagnostic> impossible;  // why; there is no estimate then
    std::vector<PlanFeature> missing;    // what it needs and the framework lacks; the estimate is what it would come to with them
    std::optional<Estimate> estimate;

    [[nodiscard]] bool fits() const { return estimate && estimate->fits(); }
    [[nodiscard]] Frequency samples_per_s() const { return static_cast<double>(plan.global_batch) / estimate->step; }
};
TriedPlan try_plan(const Scenario& job, const Plan&);

// The term that grew most from the first to the second; none where none did.
std::optional<Term> most_grown(const Terms& from, const Terms& to);

// A plan with one field set to a neighbouring value. Fields that follow from it are completed, all others stay.
struct PlanChange {
    PlanField field = PlanField::dp;
    TriedPlan tried;
};
// Degrees and sizes go one divisor down and up, other fields to each of their values. dp is not changed: it follows from the other degrees.
std::vector<PlanChange> changes_of_one_field(const Scenario& job, const Plan&);

// A plan that somebody would think of first.
enum class ObviousKind {
    data_parallel,      // every device holds everything
    fully_sharded,      // ZeRO-3, FSDP, and nothing else
    tensor_over_nodes,  // tensor parallelism over more devices than a node has
    pipeline,           // as many stages as there can be, and nothing else within a copy of the model
    no_recompute,       // everything is kept
};
struct Alternative {
    ObviousKind kind = ObviousKind::data_parallel;
    TriedPlan tried;           // the best of its kind; where none fits, the one that needs the least memory
    bool is_the_best = false;  // it is the best plan of all
};
// Those that make sense for this job on the devices of `best`. `go_on` is called now and then, from the calling thread; false stops, and
// what has been found by then is returned.
using GoOn = std::function<bool()>;
std::vector<Alternative> obvious_alternatives(const SearchRequest&, const Plan& best, const GoOn& go_on = {});

// A choice that the search may not make, made differently.
enum class RemedyKind { unpinned, head, offload, precision, global_batch, devices, framework };
struct Remedy {
    RemedyKind kind = RemedyKind::unpinned;
    std::optional<PlanField> field;  // unpinned: which one
    TriedPlan tried;                 // the best plan that fits then
    std::string framework;           // framework: its name
};
// One change at a time, each found by a search of its own: smaller changes first. Empty where none of them is enough.
std::vector<Remedy> remedies(const SearchRequest&, const GoOn& go_on = {});

}  // namespace sextant
