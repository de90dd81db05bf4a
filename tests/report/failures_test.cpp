#include "model/report/failures.hpp"

#include "tests/golden/bundled_scenarios.hpp"
#include "tests/report/reported_jobs.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace sextant {
namespace {

using namespace units;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Failures, CostARestartAndHalfOfASegmentEach) {
    // Every ten hours, an hour to restart, segments of two: e^0.1 (e^0.2 - 1) / 0.2 = 1.10517 x 1.10701.
    EXPECT_NEAR(times_as_long(2 * hour, {10 * hour, 1 * hour}), 1.22344, 1e-5);
    // Of rare ones (R + w/2) / M are left: two of a million hours.
    EXPECT_NEAR((times_as_long(2 * hour, {1e6 * hour, 1 * hour}) - 1) * 1e6, 2, 1e-5);
    EXPECT_EQ(times_as_long(Seconds{}, {1 * hour, Seconds{}}), 1);
}

TEST(Failures, ThatComeBeforeAnythingIsDoneLeaveAFiniteNumber) {
    const double never = times_as_long(1e9 * s, {1 * s, 1e9 * s});
    EXPECT_TRUE(std::isfinite(never));
    EXPECT_GT(never, 1e30);
}

TEST(Failures, AreMetBestWithTheIntervalsOfDaly) {
    // Checkpoints of 5 min: 117, 57 and 9.1 min, as under the paper's figures 3 to 5. By hand, M = 24 h: sqrt(2 x 5 x 1440) = 120,
    // 120 (1 + sqrt(1/576) / 3 + 1/5184) - 5 = 116.69.
    EXPECT_NEAR(best_checkpoint_interval(5 * minute, 24 * hour) / minute, 116.69, 0.005);
    EXPECT_NEAR(best_checkpoint_interval(5 * minute, 6 * hour) / minute, 57, 0.5);
    EXPECT_NEAR(best_checkpoint_interval(5 * minute, 15 * minute) / minute, 9.1, 0.05);
    EXPECT_EQ(best_checkpoint_interval(5 * minute, 2 * minute), 2 * minute);  // nothing can be saved often enough
    EXPECT_EQ(best_checkpoint_interval(Seconds{}, 2 * minute), Seconds{});    // and here always
}

TEST(Failures, AreFewestInRunsThatSaveAsOftenAsIsBest) {
    const FailingJob job{180 * minute, 10 * minute};
    const Seconds saving = 1 * minute;
    const auto cost = [&](Seconds interval) { return times_as_long(interval + saving, job) * ((interval + saving) / interval); };
    const Seconds best = best_checkpoint_interval(saving, job.between);
    EXPECT_LT(cost(best), cost(0.95 * best));
    EXPECT_LT(cost(best), cost(1.05 * best));
}

// A hundred steps on one device that fails once in as long a time, five steps to restart.
Scenario failing_job() {
    Scenario job = products_job(4);
    job.run.samples = 100 * 1024;
    const Seconds step = estimate(prepare(job)).step;
    job.run.failures = Failures{100 * step, {}, 2 * step, 3 * step};
    return job;
}

// Each written, and read back, in one step.
Scenario saving_job() {
    Scenario job = failing_job();
    StorageClass storage;
    complete(storage);
    storage.open_latency = storage.create_latency = round_machine::given(estimate(prepare(job)).step);
    storage.read_bandwidth = storage.write_bandwidth = round_machine::given(1e12 * TB / s);
    job.data.checkpoints = Checkpoints{storage, 10, {}, false};
    return job;
}

TEST(Failures, TakeTheWholeRunBackWhereNothingIsSaved) {
    // R = 5 and w = M = 100 steps: 100 e^0.05 (e - 1) = 180.638 steps.
    const Report r = report_of(failing_job());
    ASSERT_TRUE(r.run && r.run->failing);
    EXPECT_NEAR(r.run->time / r.estimate.step, 180.638, 0.001);
    EXPECT_NEAR(r.run->failures / r.estimate.step, 80.638, 0.001);
    EXPECT_NEAR(r.run->failing->expected, 1.80638, 1e-5);
    EXPECT_NEAR(r.run->goodput, 0.55359, 1e-5);
    EXPECT_FALSE(r.run->failing->best);
    EXPECT_THAT(r.advice, Contains(HasSubstr("nothing is saved")));
}

TEST(Failures, TakeBackWhatWasDoneSinceTheLastCheckpoint) {
    // Ten checkpoints of a step each: 110 steps in segments of w = 11, and R = 5 + 1 to read. e^0.06 (e^0.11 - 1) / 0.11 = 1.061837 x
    // 1.057074: 123.468 steps.
    const Report r = report_of(saving_job());
    const FailureEstimate& f = *r.run->failing;
    EXPECT_NEAR(f.job.restart / r.estimate.step, 6, 1e-6);
    EXPECT_NEAR(r.run->time / r.estimate.step, 123.468, 0.001);
    EXPECT_NEAR(r.run->goodput, 0.80993, 1e-5);
    // Best: sqrt(2 x 1 x 100) (1 + sqrt(1/200) / 3 + 1/1800) - 1 = 13.48, so 13 steps. Seven checkpoints, w = 14: 107 steps x 1.061837 x
    // (e^0.14 - 1) / 0.14 = 121.954.
    EXPECT_EQ(f.best->steps, 13);
    EXPECT_NEAR(f.best->goodput, 100 / 121.954, 1e-5);
    EXPECT_THAT(r.advice, Contains(HasSubstr("checkpoints every 13 steps")));
    Scenario often = saving_job();
    often.data.checkpoints->every_steps = 13;
    EXPECT_NEAR(report_of(often).run->goodput, f.best->goodput, 1e-12);
    EXPECT_THAT(report_of(often).advice, Not(Contains(HasSubstr("checkpoints every"))));
}

TEST(Failures, TakeBackWhatWasDoneWhileACheckpointWasWritten) {
    Scenario job = saving_job();
    job.data.checkpoints->asynchronous = true;
    const Report r = report_of(job);
    EXPECT_LT(r.checkpoints->wait, r.estimate.step);
    EXPECT_NEAR((r.run->failing->job.restart + r.checkpoints->wait) / r.estimate.step, 7, 1e-6);
    EXPECT_GE(r.run->failing->best->interval + r.checkpoints->wait, r.checkpoints->write);  // no next one before
}

TEST(Failures, OfDevicesAndOfNodesAddUp) {
    // Eight devices on two nodes: 8/1000 + 2/500 an hour, one failure in 83.3 h.
    Scenario job = failing_job();
    job.plan.dp = 8;
    job.plan.global_batch *= 8;
    job.run.failures->device_mtbf = 1000 * hour;
    job.run.failures->node_mtbf = 500 * hour;
    EXPECT_NEAR(report_of(job).run->failing->job.between / hour, 1000.0 / 12, 1e-9);
    job.run.failures->device_mtbf.reset();
    EXPECT_NEAR(report_of(job).run->failing->job.between / hour, 250, 1e-9);
}

TEST(Failures, AreAsManyAsOfLlama3) {
    // arXiv 2407.21783: 419 unexpected interruptions in 54 days, and more than 90 % of the time was training.
    const Report r = predict(bundled_scenario("llama-3.1-405b-failures"));
    EXPECT_NEAR(54 * 24 * hour / r.run->failing->job.between, 419, 1);
    EXPECT_GT(r.run->failing->best->goodput, 0.9);
}

}  // namespace
}  // namespace sextant
