// A search answers what trying every plan answers.
#include "model/sextant.hpp"
#include "tests/base/few_threads.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/properties/random_plans.hpp"
#include "tests/search/exhaustive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <random>
#include <set>

namespace sextant {
namespace {

std::string plan_text(const PlanChoice& c) {
    const Plan& p = c.plan;
    std::string text = "tp" + std::to_string(p.tp) + " cp" + std::to_string(p.cp) + " pp" + std::to_string(p.pp) + " vpp" +
                       std::to_string(p.vpp) + " dp" + std::to_string(p.dp) + " ep" + std::to_string(p.ep) + "/" +
                       std::to_string(p.expert_tp) + " micro-batch " + std::to_string(p.micro_batch) + (p.sequence_parallel ? " sp" : "") +
                       " schedule " + std::to_string(static_cast<int>(p.schedule)) + " sharing " +
                       std::to_string(static_cast<int>(p.data_parallel)) + "/" + std::to_string(p.shard_group.value_or(0)) + " offload " +
                       std::to_string(static_cast<int>(p.offload)) + " recompute " + std::to_string(static_cast<int>(p.recompute)) + "/" +
                       std::to_string(p.recompute_blocks) + " third " + std::to_string(static_cast<int>(p.placement[2])) + " split";
    for (const int n : p.stage_blocks) text += " " + std::to_string(n);
    return text;
}

// To the last bit but one or two: the same numbers are added up.
void expect_same(const std::vector<PlanChoice>& found, const std::vector<PlanChoice>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        SCOPED_TRACE(i);
        EXPECT_EQ(plan_text(found[i]), plan_text(expected[i]));
        EXPECT_DOUBLE_EQ(found[i].step.si(), expected[i].step.si());
        EXPECT_DOUBLE_EQ(found[i].memory.si(), expected[i].memory.si());
        EXPECT_DOUBLE_EQ(found[i].energy_per_sample.si(), expected[i].energy_per_sample.si());
    }
}

// A job on a few devices, some of whose plan's fields are pinned, so that every plan can be tried.
SearchRequest small_request(const RandomPlan& drawn, std::mt19937_64& draw) {
    SearchRequest request;
    request.job = drawn.scenario;
    Plan& plan = request.job.plan;
    plan.global_batch = 8;
    plan.micro_batch = 1;
    request.devices = {1 << (1 + static_cast<int>(draw() % 3))};
    request.top = 5;
    if (draw() % 2 == 0) request.job.cluster.node.host.memory.value = std::array{0.1, 1.0, 10.0}[draw() % 3] * units::GB;
    request.objective = std::array{Objective::throughput, Objective::memory, Objective::energy}[draw() % 3];
    for (const PlanField field : all_plan_fields)
        if (field != PlanField::dp && draw() % 2 == 0) request.pinned.insert(field);
    return request;
}

class SearchProperty : public testing::TestWithParam<int> {};

TEST_P(SearchProperty, AnswersWhatTryingEveryPlanAnswers) {
    const auto seed = static_cast<std::uint64_t>(GetParam());
    std::mt19937_64 draw(seed);
    for (const RandomPlan& drawn : random_plans(7000 + seed, 6)) {
        const SearchRequest request = small_request(drawn, draw);
        SCOPED_TRACE(testing::PrintToString(drawn.overrides) + " on " + std::to_string(request.devices.front()));
        const SearchResult expected = search_exhaustively(request);
        if (expected.counts.all() == 0) {
            EXPECT_THROW(search(request), InputError);
            continue;
        }
        const SearchResult found = search(request);
        expect_same(found.best, expected.best);
        expect_same(found.front, expected.front);
        SearchRequest all = request;
        all.prune = false;
        EXPECT_EQ(search(all).counts.priced, expected.counts.priced);
    }
}
INSTANTIATE_TEST_SUITE_P(OfSmallJobs, SearchProperty, testing::Range(0, 30));

// What plans share is worked out once: here between one micro-batch, which adds nothing up, as many as there are stages, and more.
TEST(Search, GivesEachPlanTheStepAndMemoryOfItsPrediction) {
    SearchRequest request;
    request.job =
        bundled_scenario("llama-3-8b-fsdp-64xh100", {R"(framework={"base": "megatron-core", "lacks": []})", "plan.dp=8",
                                                     "plan.global_batch=16", "plan.offload=none", "plan.reduce_every_micro_batch=false"});
    request.pinned = {PlanField::tp, PlanField::cp};
    request.devices = {8};
    request.top = 1'000'000;
    request.prune = false;
    const SearchResult found = search(request);
    std::set<std::int64_t> micro_batches;
    for (const PlanChoice& c : found.best) {
        SCOPED_TRACE(plan_text(c));
        micro_batches.insert(c.plan.micro_batches());
        const Estimate e = estimate(prepare(with_plan(request.job, c.plan)));
        ASSERT_DOUBLE_EQ(c.memory.si(), e.peak_memory.si());
        ASSERT_DOUBLE_EQ(c.step.si(), e.step.si());
    }
    EXPECT_THAT(micro_batches, testing::IsSupersetOf({1, 2, 4, 8}));
    for (const char* limit : {"30 GB", "40 GB", "50 GB", "60 GB"}) {
        request.where = {{.text = "", .quantity = "memory", .relation = Relation::less, .value = limit, .option = ""}};
        request.prune = false;
        const SearchCounts all = search(request).counts;
        request.prune = true;
        EXPECT_EQ(search(request).counts.priced, all.priced) << "what fits in " << limit << " was taken for too large";
    }
}

// How far the slower kind of device holds the others up, and the clock that a device keeps, go by how many are looked at; how slow it is,
// by the micro-batch.
TEST(Search, PricesPlansOnAsManyDevicesAsItLooksAtOfWhateverKinds) {
    for (const char* batches : {"equal", "by_speed"}) {
        SearchRequest request;
        request.job = bundled_scenario("two-kinds-of-gpus", {std::string("hardware.straggler.batches=") + batches,
                                                             "hardware.straggler.devices=1", "framework=megatron-core"});
        request.devices = {1, 2, 4};
        request.top = 200;
        const SearchResult found = search(request);
        std::set<std::int64_t> micro_batches;
        for (const PlanChoice& c : found.best) {
            micro_batches.insert(c.plan.micro_batch);
            ASSERT_THAT(check_plan(with_plan(request.job, c.plan)), testing::IsEmpty()) << plan_text(c);
            EXPECT_DOUBLE_EQ(c.step.si(), estimate(prepare(with_plan(request.job, c.plan))).step.si()) << batches << ", " << plan_text(c);
        }
        EXPECT_GT(micro_batches.size(), 1U);
    }
}

// Of Muon, which takes whole matrices: no shards of gradients, nothing on the host.
TEST(Search, LooksAtNoPlanThatTheOptimizerCannotFollow) {
    SearchRequest request;
    request.job = bundled_scenario("llama-3-8b-fsdp-64xh100",
                                   {R"(framework={"base": "megatron-core", "lacks": []})", "plan.dp=8", "plan.global_batch=16",
                                    "plan.offload=none", "plan.data_parallel=zero1", "plan.optimizer=muon"});
    request.devices = {8};
    request.top = 1000;
    const SearchResult found = search(request);
    EXPECT_GT(found.best.size(), 10U);
    for (const PlanChoice& c : found.best) {
        ASSERT_THAT(check_plan(with_plan(request.job, c.plan)), testing::IsEmpty()) << plan_text(c);
        const Estimate e = estimate(prepare(with_plan(request.job, c.plan)));
        EXPECT_DOUBLE_EQ(c.step.si(), e.step.si()) << plan_text(c);
        EXPECT_DOUBLE_EQ(c.memory.si(), e.peak_memory.si()) << plan_text(c);
    }
}

TEST(Search, SaysHowNearPlansComeToConditionsThatNoneMeets) {
    SearchRequest request;
    request.job = bundled_scenario("default");
    request.objective = Objective::time;
    const SearchResult all = search(request);
    EXPECT_THAT(all.nearest, testing::IsEmpty());
    request.where = {parse_condition("step_time < 1 us", "--where"), parse_condition("devices == 1000", "--where")};
    const SearchResult none = search(request);
    EXPECT_THAT(none.best, testing::IsEmpty());
    ASSERT_EQ(none.nearest.size(), 2u);
    EXPECT_DOUBLE_EQ(none.nearest.front().value(), all.best.front().step.si());
    EXPECT_EQ(none.nearest.back(), std::nullopt);
    request.where = {parse_condition("step_time < 1 h", "--where")};
    EXPECT_THAT(search(request).nearest, testing::IsEmpty());
}

TEST(Search, GoesOnWithTheThreadsThatTheSystemStarts) {
    SearchRequest request;
    request.job = bundled_scenario("default");
    const SearchResult alone = search(request);
    request.threads = 8;
    const auto search_by_few = [&] {
        allow_threads(2);
        const SearchResult found = search(request);
        std::_Exit(found.counts.all() == alone.counts.all() && plan_text(found.best.front()) == plan_text(alone.best.front()) ? 0 : 1);
    };
    EXPECT_EXIT(search_by_few(), testing::ExitedWithCode(0), "");
}

TEST(Search, ThrowsWhatOneOfItsThreadsThrows) {
    SearchRequest request;
    request.job = bundled_scenario("default");
    request.threads = 4;
    EXPECT_THROW(search(request, [](const SearchProgress&) -> bool { throw std::bad_alloc(); }), std::bad_alloc);
}

}  // namespace
}  // namespace sextant
