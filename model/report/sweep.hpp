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

struct SweepEstimate {
    std::int64_t tasks_per_job = 1, jobs = 1;
    Seconds time;                              // of all
    Seconds ungrouped;                         // with a job for each task
    std::optional<double> storage_bound_from;  // jobs at once, from which on more of them gain nothing
};

SweepEstimate best_grouping(const Sweep&, const SweepTask&);

}  // namespace sextant
