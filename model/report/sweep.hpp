// Many small jobs: how many tasks to give each, and when they wait for the storage that they share. docs/model/input.md has the formula.
#pragma once

#include "model/cost/input.hpp"
#include "model/plan/scenario.hpp"

#include <optional>
#include <vector>

namespace sextant {

// A resource that all jobs share, and how long one task uses it when no other does.
struct SharedTime {
    LoaderLimit limit = LoaderLimit::total_bandwidth;
    Seconds time;
};
struct SweepTask {
    Seconds time;  // with the storage to itself
    std::vector<SharedTime> shared;
};

// The number of jobs that a cluster's other users put up with, "in the low hundreds at most", and the length that makes a job worth a
// scheduler's work, "several minutes" (Mila, Processing data). That several are five is our guess.
inline constexpr std::int64_t most_jobs = 300;
inline constexpr Seconds shortest_job = 5 * units::minute;

struct Grouping {
    std::int64_t tasks_per_job = 1, jobs = 1;
    Seconds job;   // one of them
    Seconds time;  // of all tasks
};

// The resource that is the limit from this many simultaneous jobs on, where more of them gain nothing.
struct SweepLimit {
    LoaderLimit limit = LoaderLimit::total_bandwidth;
    double jobs = 1;
};

struct SweepEstimate {
    Grouping best;                   // no more than most_jobs jobs, none shorter than shortest_job if there is enough to do
    std::optional<Grouping> faster;  // with more jobs, or shorter ones
    Seconds ungrouped;               // one job for each task
    std::optional<SweepLimit> bound;
};

SweepEstimate best_grouping(const Sweep&, const SweepTask&);

}  // namespace sextant
