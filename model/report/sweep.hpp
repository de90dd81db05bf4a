// Many small jobs: how many tasks to give each, and when they wait for the storage that they share. docs/model/input.md has the formula.
#pragma once

#include "model/cost/input.hpp"
#include "model/plan/scenario.hpp"

#include <optional>
#include <vector>

namespace sextant {

// Something that all jobs have together: what one task takes of it if nobody else does.
struct SharedTime {
    LoaderLimit limit = LoaderLimit::total_bandwidth;
    Seconds time;
};
struct SweepTask {
    Seconds time;  // with the storage to itself
    std::vector<SharedTime> shared;
};

// Jobs that a cluster's other users put up with, "in the low hundreds at most", and that are worth a scheduler's work: each of several
// minutes (Mila, Processing data). How many are several is our guess.
inline constexpr std::int64_t most_jobs = 300;
inline constexpr Seconds shortest_job = 5 * units::minute;

struct Grouping {
    std::int64_t tasks_per_job = 1, jobs = 1;
    Seconds job;   // one of them
    Seconds time;  // of all tasks
};

// What is the limit from so many jobs at once on: more of them gain nothing.
struct SweepLimit {
    LoaderLimit limit = LoaderLimit::total_bandwidth;
    double jobs = 1;
};

struct SweepEstimate {
    Grouping best;                   // of no more than most_jobs, and none shorter than shortest_job, where so much is to be done
    std::optional<Grouping> faster;  // with more or shorter ones
    Seconds ungrouped;               // with a job for each task
    std::optional<SweepLimit> bound;
};

SweepEstimate best_grouping(const Sweep&, const SweepTask&);

}  // namespace sextant
