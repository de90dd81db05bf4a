// What belongs beside the best plans: what changing one thing about a plan costs, why the obvious plans lose, and what would make a job
// fit that does not. Values; model/io writes them.
#pragma once

#include "model/predict/estimate.hpp"
#include "model/search/search.hpp"

#include <functional>

namespace sextant {

// A plan, and what it comes to: a time and a need of memory, or why it cannot be.
struct TriedPlan {
    Plan plan;
    std::vector<Diagnostic> impossible;  // why; without an estimate then
    std::vector<PlanFeature> missing;    // what it needs and the framework lacks: what it would come to with them
    std::optional<Estimate> estimate;

    [[nodiscard]] bool fits() const { return estimate && estimate->fits(); }
    [[nodiscard]] Frequency samples_per_s() const { return static_cast<double>(plan.global_batch) / estimate->step; }
};
TriedPlan try_plan(const Scenario& job, const Plan&);

// The term that is so much longer in the second than in the first; none where none is.
std::optional<Term> most_grown(const Terms& from, const Terms& to);

// One field set to a value next to its own; what follows from that is completed, all else stays.
struct PlanChange {
    PlanField field = PlanField::dp;
    TriedPlan tried;
};
// Degrees and sizes go one divisor down and up, the others to each of their values. dp has none: it follows from the other degrees.
std::vector<PlanChange> changes_of_one_field(const Scenario& job, const Plan&);

// A plan that somebody would think of first.
enum class Obvious {
    data_parallel,      // every device holds everything
    fully_sharded,      // ZeRO-3, FSDP, and nothing else
    tensor_over_nodes,  // tensor parallelism over more devices than a node has
    pipeline,           // as many stages as there can be, and nothing else within a copy of the model
    no_recompute,       // everything is kept
};
struct Alternative {
    Obvious kind = Obvious::data_parallel;
    TriedPlan tried;           // the best of its kind by the search; where none fits, the one that needs the least memory
    bool is_the_best = false;  // nothing to lose
};
// Those that mean something for this job on the devices of `best`. `go_on` is asked now and then, from the calling thread; false stops,
// and what has been found by then is returned.
using GoOn = std::function<bool()>;
std::vector<Alternative> obvious_alternatives(const SearchRequest&, const Plan& best, const GoOn& go_on = {});

// Something that is not the search's to choose, chosen otherwise.
enum class RemedyKind { unpinned, head, offload, precision, global_batch, devices, framework };
struct Remedy {
    RemedyKind kind = RemedyKind::unpinned;
    std::optional<PlanField> field;  // unpinned: which
    TriedPlan tried;                 // the best plan that fits then
    std::string framework;           // framework: its name
};
// One change at a time, each found by a search of its own: smaller changes first. Empty where none of them is enough.
std::vector<Remedy> remedies(const SearchRequest&, const GoOn& go_on = {});

}  // namespace sextant
