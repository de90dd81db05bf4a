#include "model/report/sweep.hpp"

#include "tests/golden/bundled_scenarios.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

TEST(Sweep, OfSmallTasksIsGroupedUntilAllJobsRunAtOnce) {
    // 1000 tasks of 5 min, 1 min to start a job, 100 at once: ten rounds of 6 min; ten tasks a job, one round of 51 min.
    const SweepEstimate e = best_grouping({1000, 1 * minute, 100}, {5 * minute, {}});
    EXPECT_NEAR(e.ungrouped / minute, 60, 1e-9);
    EXPECT_EQ(e.best.tasks_per_job, 10);
    EXPECT_EQ(e.best.jobs, 100);
    EXPECT_NEAR(e.best.time / minute, 51, 1e-9);
    EXPECT_NEAR(e.best.job / minute, 51, 1e-9);
    EXPECT_FALSE(e.bound);
}

TEST(Sweep, IsLeftAsItIsWhereAllTasksRunAtOnce) {
    const SweepEstimate e = best_grouping({50, 1 * minute, 100}, {5 * minute, {}});
    EXPECT_EQ(e.best.tasks_per_job, 1);
    EXPECT_EQ(e.best.time, e.ungrouped);
}

TEST(Sweep, StartsNoMoreJobsThanStorageFeeds) {
    // Each task reads 30 GB in 5 min, 0.1 GB/s: 5 GB/s feed 50 of them. With 100 at once each takes 10 min: ten tasks a job take 101 min,
    // and so do 20 tasks at 5 min in 50 jobs, the fewer of the two.
    const SweepEstimate e = best_grouping({1000, 1 * minute, 100}, {5 * minute, {{LoaderLimit::total_bandwidth, 6 * s}}});
    ASSERT_TRUE(e.bound);
    EXPECT_NEAR(e.bound->jobs, 50, 1e-9);
    EXPECT_EQ(e.best.tasks_per_job, 20);
    EXPECT_EQ(e.best.jobs, 50);
    EXPECT_NEAR(e.best.time / minute, 101, 1e-9);
}

TEST(Sweep, IsLimitedByWhatOfTheStorageBindsFirst) {
    // Beside the bandwidth for 50 jobs, 600,000 opens of 20,000 a second: 30 s of a task's 5 min, ten jobs. 100 tasks each, 501 min.
    const SweepEstimate e =
        best_grouping({1000, 1 * minute, 100}, {5 * minute, {{LoaderLimit::total_bandwidth, 6 * s}, {LoaderLimit::metadata, 30 * s}}});
    ASSERT_TRUE(e.bound);
    EXPECT_EQ(e.bound->limit, LoaderLimit::metadata);
    EXPECT_NEAR(e.bound->jobs, 10, 1e-9);
    EXPECT_EQ(e.best.jobs, 10);
    EXPECT_NEAR(e.best.time / minute, 501, 1e-9);
}

TEST(Sweep, OfAScenarioCountsTheOpensOfItsFiles) {
    // 1000 files in each of ten epochs, at 100 opens a second of all clients: 100 s, all that there is of it. At 1 GB/s the 100 MB of an
    // epoch take 0.1 s, and what the page cache has is not read again: it has nothing here.
    const Report r = predict(
        bundled_scenario("input-thousand-files",
                         {R"(data.storage={"name": "slow to open", "type": "nfs", "shared": true, "kind": "estimated", "source": "made up",
            "open_latency": "10 ms", "metadata_rate": "100 /s", "total_read_bandwidth": "1 GB/s"})",
                          R"(run={"epochs": 10, "sweep": {"tasks": 100, "start_up": "1 min", "at_once": 10}})"}));
    ASSERT_TRUE(r.sweep && r.sweep->bound);
    EXPECT_EQ(r.sweep->bound->limit, LoaderLimit::metadata);
    EXPECT_NEAR(r.sweep->bound->jobs, r.run->time / (100 * s), 1e-6);
}

TEST(Sweep, HasNoShorterJobsThanAreWorthASchedulersWork) {
    // 1000 tasks of 20 s, 30 s to start, 200 jobs at once: five tasks a job would take 130 s. Jobs of 5 min have 14 of them, 310 s.
    const SweepEstimate e = best_grouping({1000, 30 * s, 200}, {20 * s, {}});
    EXPECT_EQ(e.best.tasks_per_job, 14);
    EXPECT_EQ(e.best.jobs, 72);
    EXPECT_NEAR(e.best.job / s, 310, 1e-9);
    ASSERT_TRUE(e.faster);
    EXPECT_EQ(e.faster->tasks_per_job, 5);
    EXPECT_NEAR(e.faster->time / s, 130, 1e-9);
    // Where there is less to do than that, one job does it.
    EXPECT_EQ(best_grouping({10, 30 * s, 100}, {10 * s, {}}).best.jobs, 1);
}

TEST(Sweep, TakesTheFewestJobsOfGroupingsThatAreAsGood) {
    // No time to start: any grouping that divides evenly is as good. All in one round of 4 jobs.
    const SweepEstimate e = best_grouping({100, Seconds{}, 4}, {1 * minute, {}});
    EXPECT_EQ(e.best.tasks_per_job, 25);
    EXPECT_EQ(e.best.jobs, 4);
}

TEST(Sweep, HasNoMoreJobsThanOthersPutUpWith) {
    // 100,000 tasks of 5 min, 1 min to start a job, 5000 at once: 20 tasks a job would take 101 min. Of 334 tasks each there are 300 jobs,
    // 1671 min; within a hundredth of that 337 tasks in 297 jobs, 1686 min.
    const SweepEstimate e = best_grouping({100'000, 1 * minute, 5000}, {5 * minute, {}});
    EXPECT_EQ(e.best.tasks_per_job, 337);
    EXPECT_EQ(e.best.jobs, 297);
    EXPECT_NEAR(e.best.time / minute, 1686, 1e-9);
    ASSERT_TRUE(e.faster);
    EXPECT_EQ(e.faster->tasks_per_job, 20);
    EXPECT_EQ(e.faster->jobs, 5000);
    EXPECT_NEAR(e.faster->time / minute, 101, 1e-9);
    EXPECT_FALSE(best_grouping({1000, 1 * minute, 100}, {5 * minute, {}}).faster);
}

TEST(Sweep, OfAScenarioRunsItsRunManyTimes) {
    const std::string sweep = R"(run.sweep={"tasks": 1000, "start_up": "3 min", "at_once": 18})";
    const Report r = predict(bundled_scenario("input-few-workers", {"run.epochs=1", sweep}));
    ASSERT_TRUE(r.run && r.sweep);
    EXPECT_EQ(r.sweep->best.tasks_per_job, 56);  // 1000 / 18, rounded up
    EXPECT_NEAR(r.sweep->best.time / minute, 3 + 56 * r.run->time / minute, 1e-6);
    EXPECT_NEAR(r.sweep->ungrouped / minute, 56 * (3 + r.run->time / minute), 1e-6);
    EXPECT_THROW(bundled_scenario("many-small-messages", {sweep}), InputError) << "a task has no end";
}

}  // namespace
}  // namespace sextant
