// What a search recommends can run, is what predict and simulate say it is, and is not slower than plain data parallelism.
#include "tests/properties/random_plans.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

class BestPlan : public testing::TestWithParam<int> {};

SearchRequest job_of(const RandomPlan& drawn) {
    SearchRequest request;
    request.job = drawn.scenario;
    request.job.plan.global_batch = 16;
    request.job.plan.micro_batch = 1;
    request.devices = {8};
    request.top = 3;
    return request;
}

// None where 8 copies of the whole model cannot be, or do not fit.
std::optional<Seconds> plain_data_parallelism(const SearchRequest& request) {
    Plan plan = request.job.plan;
    plan.tp = plan.pp = plan.cp = plan.ep = plan.vpp = 1;
    plan.expert_tp = 0;
    plan.dp = 8;
    plan.micro_batch = 2;
    plan.data_parallel = DataParallel::all_reduce;
    plan.schedule = Schedule::one_f_one_b;
    plan.sequence_parallel = false;
    plan.recompute = Recompute::none;
    plan.offload = Offload::none;
    plan.shard_group.reset();
    plan.stage_blocks.clear();
    const TriedPlan tried = try_plan(request.job, plan);
    return tried.fits() ? std::optional(tried.estimate->step) : std::nullopt;
}

TEST_P(BestPlan, RunsAndIsWhatItIsSaidToBe) {
    int jobs_with_a_plan = 0;
    for (const RandomPlan& drawn : random_plans(9100 + static_cast<std::uint64_t>(GetParam()), 4)) {
        SCOPED_TRACE(testing::PrintToString(drawn.overrides));
        const SearchRequest request = job_of(drawn);
        SearchResult found;
        try {
            found = search(request);
        } catch (const InputError&) {
            continue;  // such a job has no plan on 8 devices
        }
        ++jobs_with_a_plan;
        for (const PlanChoice& c : found.best) {
            const Scenario s = with_plan(request.job, c.plan);
            EXPECT_TRUE(check_plan(s).empty());
            const Estimate e = predict(s).estimate;
            EXPECT_TRUE(e.fits());
            EXPECT_NEAR(c.step / e.step, 1, 1e-9);
            EXPECT_NEAR(c.memory / e.peak_memory, 1, 1e-9);
            EXPECT_NO_THROW(simulate(s));
        }
        if (const auto plain = plain_data_parallelism(request)) {
            ASSERT_FALSE(found.best.empty());
            EXPECT_LE(found.best.front().step.si(), plain->si() * (1 + 1e-9));
        }
    }
    EXPECT_GT(jobs_with_a_plan, 0);
}
INSTANTIATE_TEST_SUITE_P(OfRandomJobs, BestPlan, testing::Range(0, 8));

}  // namespace
}  // namespace sextant
