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

// Of groupings with so many tasks a job and more that are as good as the fastest, the one with the fewest jobs.
Grouping fewest_jobs(const Sweep& s, const SweepTask& task, std::int64_t least_tasks) {
    Seconds shortest = time_of(s, task, least_tasks);
    for (std::int64_t g = least_tasks + 1; g <= s.tasks; ++g) shortest = min(shortest, time_of(s, task, g));
    std::int64_t tasks = s.tasks;
    while (time_of(s, task, tasks) > as_good * shortest) --tasks;
    return {tasks, jobs_of(s, tasks), time_of(s, task, tasks)};
}

}  // namespace

SweepEstimate best_grouping(const Sweep& s, const SweepTask& task) {
    SweepEstimate e;
    e.ungrouped = time_of(s, task, 1);
    e.best = fewest_jobs(s, task, jobs_of(s, most_jobs));
    if (const Grouping any = fewest_jobs(s, task, 1); as_good * any.time < e.best.time) e.faster = any;
    if (task.storage && task.reads > Bytes{}) e.storage_bound_from = std::max(1.0, *task.storage * task.time / task.reads);
    return e;
}

}  // namespace sextant
