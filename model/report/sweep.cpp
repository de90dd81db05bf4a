#include "model/report/sweep.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr double as_good = 1.01;

std::int64_t jobs_of(const Sweep& s, std::int64_t tasks_per_job) { return (s.tasks + tasks_per_job - 1) / tasks_per_job; }

Seconds time_of(const Sweep& s, const SweepTask& task, std::int64_t tasks_per_job) {
    const std::int64_t jobs = jobs_of(s, tasks_per_job), at_once = std::min(jobs, s.at_once), rounds = (jobs + at_once - 1) / at_once;
    Seconds each = task.time;
    if (task.storage) each = max(each, static_cast<double>(at_once) * task.reads / *task.storage);
    return static_cast<double>(rounds) * (s.start_up + static_cast<double>(tasks_per_job) * each);
}

}  // namespace

SweepEstimate best_grouping(const Sweep& s, const SweepTask& task) {
    SweepEstimate best;
    best.ungrouped = best.time = time_of(s, task, 1);
    Seconds shortest = best.time;
    for (std::int64_t g = 2; g <= s.tasks; ++g) shortest = min(shortest, time_of(s, task, g));
    for (std::int64_t g = s.tasks; g > 0; --g) {
        best.time = time_of(s, task, g);
        best.tasks_per_job = g;
        if (best.time <= as_good * shortest) break;
    }
    best.jobs = jobs_of(s, best.tasks_per_job);
    if (task.storage && task.reads > Bytes{}) best.storage_bound_from = std::max(1.0, *task.storage * task.time / task.reads);
    return best;
}

}  // namespace sextant
