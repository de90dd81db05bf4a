// The best plans for a job on a cluster: every plan of a PlanSpace is priced by the closed form, or ruled out by a bound on all plans of
// its kind. docs/model/search.md has the bounds and their proofs. The answer is the same as that of trying them all.
//
//     const SearchResult found = search({.job = scenario, .devices = {256, 512}});
//     predict(with_plan(scenario, found.best.front().plan));
#pragma once

#include "model/report/condition.hpp"
#include "model/search/plan_space.hpp"

#include <cstdint>
#include <functional>

namespace sextant {

enum class Objective {
    throughput,  // samples a second, of any number of devices
    time,        // of a step
    cost,        // money for a sample
    energy,      // for a sample
    memory,      // at the peak of the fullest device
};
inline constexpr int objective_count = static_cast<int>(Objective::memory) + 1;
inline constexpr auto all_objectives = enumerators<Objective, objective_count>();
std::string_view to_text(Objective);
std::optional<Objective> objective(std::string_view name);

struct SearchRequest {
    Scenario job;
    std::set<PlanField> pinned;
    std::vector<int> devices;                  // the numbers of devices to look at; empty: as many as the job's plan uses
    std::vector<std::int64_t> global_batches;  // empty: the job's
    Objective objective = Objective::throughput;
    int top = 10;
    std::vector<Condition> where;  // on the quantities of a PlanChoice; a plan that breaks one does not count
    int threads = 1;
    // The job under other frameworks, called where no plan fits under its own; empty: there are none.
    std::function<std::vector<Scenario>()> elsewhere;
    bool prune = true;  // false: every plan is priced, which takes longer and must give the same answer
};

// One plan and what it comes to.
struct PlanChoice {
    Plan plan;
    Seconds step;
    Bytes memory;  // peak of the fullest rank
    int devices = 1;
    Frequency samples_per_s;
    std::optional<Money> cost_per_sample;  // where the price of a device is known
    Joules energy_per_sample;
};
// `job`: with the plan in it.
PlanChoice plan_choice(const Scenario& job, const Terms&, Bytes memory);
std::vector<NamedQuantity> named_quantities(const PlanChoice&);
// Their names and units before a plan is found.
std::vector<NamedQuantity> searched_quantities(const Scenario& job);

struct SearchCounts {
    std::int64_t priced = 0;     // plans whose step time and memory were computed
    std::int64_t too_large = 0;  // whose memory was computed and does not fit
    std::int64_t pruned = 0;     // that a bound rules out: they do not fit, or are neither among the best nor on the front
    [[nodiscard]] std::int64_t all() const { return priced + too_large + pruned; }
    SearchCounts& operator+=(const SearchCounts&);
};

struct SearchProgress {
    double done = 0;  // of the space, 0 to 1
    SearchCounts counts;
    const PlanChoice* best = nullptr;
};

// For each condition of a request, the value that comes nearest to satisfying it among many plans; none for "==" and "!=".
using NearestValues = std::vector<std::optional<double>>;
void merge_nearest(NearestValues&, const std::vector<Condition>& where, const NearestValues& others);

struct SearchResult {
    // Best first. Of equally good plans only the simplest, of plans that differ only in where ranks stand only the best.
    std::vector<PlanChoice> best;
    std::vector<PlanChoice> front;       // the Pareto front of throughput, memory and cost; highest throughput first
    std::optional<PlanChoice> smallest;  // where no plan fits: the one that needs the least memory
    NearestValues nearest;               // where no plan that fits meets every condition
    SearchCounts counts;
    bool complete = true;  // false: stopped before its end, best so far
};

// `progress` is called now and then, from the calling thread; false stops the search. The result does not depend on the number of threads.
// Throws InputError where there is nothing to search (a pin that no plan can have, too few devices), a condition names an unknown quantity,
// or the objective is cost and no price is known.
SearchResult search(const SearchRequest&, const std::function<bool(const SearchProgress&)>& progress = {});

// The job with this plan in place of its own.
Scenario with_plan(const Scenario& job, const Plan&);

}  // namespace sextant
