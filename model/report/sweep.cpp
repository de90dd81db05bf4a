#include "model/report/sweep.hpp"

#include "model/base/ceil_divide.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr double as_good = 1.01;

std::int64_t jobs_of(const Sweep& s, std::int64_t tasks_per_job) { return ceil_divide(s.tasks, tasks_per_job); }

Grouping grouped(const Sweep& s, const SweepTask& task, std::int64_t tasks_per_job) {
    const std::int64_t jobs = jobs_of(s, tasks_per_job), at_once = std::min(jobs, s.at_once), rounds = ceil_divide(jobs, at_once);
    Seconds each = task.time;
    for (const SharedTime& of_all : task.shared) each = max(each, static_cast<double>(at_once) * of_all.time);
    const Seconds job = s.start_up + static_cast<double>(tasks_per_job) * each;
    return {tasks_per_job, jobs, job, static_cast<double>(rounds) * job};
}

// The grouping with the fewest jobs among those that are as good as the fastest and have so many tasks a job or more. Its jobs are as even
// as can be.
Grouping fewest_jobs(const Sweep& s, const SweepTask& task, std::int64_t least_tasks) {
    Seconds shortest = grouped(s, task, least_tasks).time;
    for (std::int64_t g = least_tasks + 1; g <= s.tasks; ++g) shortest = min(shortest, grouped(s, task, g).time);
    std::int64_t tasks = s.tasks;
    while (grouped(s, task, tasks).time > as_good * shortest) --tasks;
    const std::int64_t jobs = jobs_of(s, tasks), even = ceil_divide(s.tasks, jobs);
    return grouped(s, task, std::max(least_tasks, even));
}

// The fewest tasks a job with which jobs are few and long enough.
std::int64_t least_tasks(const Sweep& s, const SweepTask& task) {
    const double long_enough = std::ceil((shortest_job - s.start_up) / task.time);
    return std::max(jobs_of(s, most_jobs), static_cast<std::int64_t>(std::clamp(long_enough, 1.0, static_cast<double>(s.tasks))));
}

}  // namespace

SweepEstimate best_grouping(const Sweep& s, const SweepTask& task) {
    SweepEstimate e;
    e.ungrouped = grouped(s, task, 1).time;
    e.best = fewest_jobs(s, task, least_tasks(s, task));
    if (const Grouping any = fewest_jobs(s, task, 1); as_good * any.time < e.best.time) e.faster = any;
    const auto first = std::ranges::max_element(task.shared, {}, &SharedTime::time);
    if (first != task.shared.end() && first->time > Seconds{}) e.bound = {first->limit, std::max(1.0, task.time / first->time)};
    return e;
}

}  // namespace sextant
