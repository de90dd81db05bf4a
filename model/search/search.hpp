// The best plans for a job on a cluster: every plan of a PlanSpace is priced by the closed form, or ruled out by a bound that no plan of
// its kind can pass. docs/model/search.md has the bounds and their proofs. The answer is that of trying them all.
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
std::string_view to_text(Objective);
std::optional<Objective> objective(std::string_view name);

struct SearchRequest {
    Scenario job;
    std::set<PlanField> pinned;
    std::vector<int> devices;                  // numbers of them to look at; empty: as many as the job's plan uses
    std::vector<std::int64_t> global_batches;  // empty: the job's
    Objective objective = Objective::throughput;
    int top = 10;
    std::vector<Condition> where;  // on what named_quantities(PlanChoice) lists; a plan that breaks one does not count
    int threads = 1;
    // The job under other frameworks, asked for where no plan fits under its own; empty: there are none.
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
// `job` with the plan in it, priced.
PlanChoice plan_choice(const Scenario& job, const Terms&, Bytes memory);
std::vector<NamedQuantity> named_quantities(const PlanChoice&);
// Of a plan of this job that is still to be found: names and units.
std::vector<NamedQuantity> searched_quantities(const Scenario& job);

struct SearchCounts {
    std::int64_t priced = 0;     // step time and memory worked out
    std::int64_t too_large = 0;  // memory worked out: they do not fit
    std::int64_t pruned = 0;     // nobody looked: a bound shows that they do not fit, or are neither among the best nor on the front
    [[nodiscard]] std::int64_t all() const { return priced + too_large + pruned; }
    SearchCounts& operator+=(const SearchCounts&);
};

struct SearchProgress {
    double done = 0;  // of the space, 0 to 1
    SearchCounts counts;
    const PlanChoice* best = nullptr;
};

// Of each condition of a request the value of its quantity that comes nearest to what it asks, of many plans; none of those that ask for
// one value.
using NearestValues = std::vector<std::optional<double>>;
void come_nearer(NearestValues&, const std::vector<Condition>& where, const NearestValues& others);

struct SearchResult {
    // Best first; of plans that come to the same the simplest, of those that differ in where ranks stand only the best.
    std::vector<PlanChoice> best;
    std::vector<PlanChoice> front;       // nobody is better in throughput, memory and cost at once; by throughput, highest first
    std::optional<PlanChoice> smallest;  // of all, where none fits: needs the least memory
    NearestValues nearest;               // of all that fit, where none meets every condition
    SearchCounts counts;
    bool complete = true;  // false: stopped before its end, best so far
};

// `progress`: now and then, from the calling thread; false stops the search. The result does not depend on the number of threads.
// Throws InputError: nothing to search (a pin that no plan can have, too few devices), a condition on what is not known, no price.
SearchResult search(const SearchRequest&, const std::function<bool(const SearchProgress&)>& progress = {});

// The job with this plan in place of its own.
Scenario with_plan(const Scenario& job, const Plan&);

}  // namespace sextant
