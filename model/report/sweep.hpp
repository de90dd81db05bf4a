// Many small jobs: how many tasks to give each, and when they wait for the storage that they share. docs/model/input.md has the formula.
#pragma once

#include "model/plan/scenario.hpp"

#include <optional>

namespace sextant {

struct SweepTask {
    Seconds time;                      // with the storage to itself
    Bytes reads;                       // from shared storage
    std::optional<Bandwidth> storage;  // of that as a whole, where it is known
};

// Jobs that a cluster's other users put up with: "in the low hundreds at most" (Mila, Processing data).
inline constexpr std::int64_t most_jobs = 300;

struct Grouping {
    std::int64_t tasks_per_job = 1, jobs = 1;
    Seconds time;  // of all tasks
};

struct SweepEstimate {
    Grouping best;                             // of no more than most_jobs
    std::optional<Grouping> faster;            // with more of them
    Seconds ungrouped;                         // with a job for each task
    std::optional<double> storage_bound_from;  // jobs at once, from which on more of them gain nothing
};

SweepEstimate best_grouping(const Sweep&, const SweepTask&);

}  // namespace sextant
