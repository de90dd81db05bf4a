// What an answer says beside its best plans: facts about small jobs.
#include "model/search/advice.hpp"
#include "model/search/plan_answer.hpp"
#include "model/search/plan_fields.hpp"
#include "model/search/ranking.hpp"
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>

#include <set>

namespace sextant {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Scenario small_gpt() {
    return bundled_scenario("gpt3-175b-1024xa100",
                            {"workload=gpt3-1.3b", "plan.tp=2", "plan.pp=2", "plan.dp=4", "plan.global_batch=32", "plan.micro_batch=2"});
}

const PlanChange* change_to(const std::vector<PlanChange>& changes, PlanField field, const std::function<bool(const Plan&)>& is) {
    const auto found = std::ranges::find_if(changes, [&](const PlanChange& c) { return c.field == field && is(c.tried.plan); });
    return found == changes.end() ? nullptr : &*found;
}

TEST(PlanFields, EachIsCopiedAndComparedByItself) {
    Plan other;
    other.dp = other.tp = other.pp = other.cp = other.ep = other.expert_tp = other.vpp = 3;
    other.micro_batch = 3, other.sequence_parallel = true, other.shard_group = 3, other.stage_blocks = {3};
    other.placement = {PlanDimension::data}, other.data_parallel = DataParallel::zero2, other.offload = Offload::optimizer;
    other.schedule = Schedule::gpipe, other.recompute = Recompute::blocks, other.recompute_blocks = 3;
    for (const PlanField field : all_plan_fields) {
        Plan plan;
        copy_field(field, other, plan);
        for (const PlanField f : all_plan_fields) {
            EXPECT_EQ(same_field(f, plan, other), f == field) << to_text(field) << ", " << to_text(f);
            EXPECT_EQ(same_field(f, plan, Plan{}), f != field) << to_text(field) << ", " << to_text(f);
        }
    }
}

// 16 devices; tp 4 and pp 2 leave dp 2, whose pipelines have 16 samples each.
TEST(PlanFields, DpFillsTheDevicesThatOtherDegreesLeave) {
    const Scenario job = small_gpt();
    const PlanSpace space = plan_space(job, {}, 16);
    Plan plan = job.plan;
    plan.tp = 4;
    EXPECT_EQ(completed(space, plan).dp, 2);
    plan.tp = 1;
    plan.sequence_parallel = true;
    EXPECT_EQ(completed(space, plan).dp, 8);
    EXPECT_FALSE(completed(space, plan).sequence_parallel);
}

// 16 pipelines of one stage have 2 samples each: a micro-batch of 4 becomes 2, and no schedule but 1f1b means anything.
TEST(PlanFields, MicroBatchAndScheduleFollow) {
    const Scenario job = small_gpt();
    Plan plan = job.plan;
    plan.tp = plan.pp = 1;
    plan.micro_batch = 4;
    plan.schedule = Schedule::interleaved;
    plan.vpp = 2;
    const Plan done = completed(plan_space(job, {}, 16), plan);
    EXPECT_EQ(done.dp, 16);
    EXPECT_EQ(done.micro_batch, 2);
    EXPECT_EQ(done.schedule, Schedule::one_f_one_b);
    EXPECT_EQ(done.vpp, 1);
}

TEST(Advice, TheTermThatGrewMostIsThatOfTheLargestDifference) {
    Terms from, to;
    from[Term::forward] = 5 * units::s, to[Term::forward] = 6 * units::s;
    from[Term::bubble] = 1 * units::s, to[Term::bubble] = 3 * units::s;
    EXPECT_EQ(most_grown(from, to), Term::bubble);
    EXPECT_EQ(most_grown(to, from), std::nullopt);
}

TEST(Advice, EachChangeDiffersInItsFieldAndUsesTheSameDevices) {
    const Scenario job = small_gpt();
    const std::vector<PlanChange> changes = changes_of_one_field(job, job.plan);
    ASSERT_FALSE(changes.empty());
    for (const PlanChange& c : changes) {
        EXPECT_FALSE(same_field(c.field, c.tried.plan, job.plan)) << to_text(c.field);
        EXPECT_EQ(c.tried.plan.devices(), job.plan.devices()) << to_text(c.field);
        EXPECT_NE(c.tried.estimate.has_value(), !c.tried.impossible.empty());
        if (c.tried.estimate) {
            EXPECT_EQ(c.tried.estimate->step, predict(with_plan(job, c.tried.plan)).estimate.step);
        }
    }
}

// 2 x 2 x 4 devices: half the tensor ranks are twice the copies.
TEST(Advice, HalfOfTpIsTwiceOfDp) {
    const Scenario job = small_gpt();
    const std::vector<PlanChange> changes = changes_of_one_field(job, job.plan);
    const PlanChange* half = change_to(changes, PlanField::tp, [](const Plan& p) { return p.tp == 1; });
    ASSERT_NE(half, nullptr);
    EXPECT_EQ(half->tried.plan.dp, 8);
    const PlanChange* twice = change_to(changes, PlanField::tp, [](const Plan& p) { return p.tp == 4; });
    ASSERT_NE(twice, nullptr);
    EXPECT_EQ(twice->tried.plan.dp, 2);
}

// 24 layers, an embedding and a head are too few for two chunks on each of 16 stages.
TEST(Advice, SchedulesWithoutBlocksForTheirChunksAreNamedAndSayWhy) {
    Scenario job = small_gpt();
    job.plan.tp = job.plan.dp = 1;
    job.plan.pp = 16;
    const std::vector<PlanChange> changes = changes_of_one_field(job, job.plan);
    std::set<Schedule> tried;
    for (const PlanChange& c : changes) {
        if (c.field != PlanField::schedule) continue;
        EXPECT_TRUE(tried.insert(c.tried.plan.schedule).second) << "twice";
        const bool has_chunks = c.tried.plan.schedule != Schedule::gpipe && c.tried.plan.schedule != Schedule::zero_bubble;
        EXPECT_EQ(c.tried.impossible.empty(), !has_chunks);
    }
    EXPECT_EQ(tried.size(), 5U);
}

TEST(Advice, WhatCannotBeSaysWhyInTheWordsOfCheckPlan) {
    Scenario job = small_gpt();
    Plan plan = job.plan;
    plan.dp = 5;
    const TriedPlan tried = try_plan(job, plan);
    EXPECT_FALSE(tried.estimate);
    ASSERT_FALSE(tried.impossible.empty());
    EXPECT_EQ(tried.impossible.front(), check_plan(with_plan(job, plan)).front());
}

SearchRequest request_for(const Scenario& job) {
    SearchRequest request;
    request.job = job;
    request.devices = {job.plan.devices()};
    request.top = 3;
    return request;
}

TEST(Advice, NoObviousAlternativeThatTheFrameworkCanDoIsBetterThanTheBest) {
    const SearchRequest request = request_for(small_gpt());
    const SearchResult found = search(request);
    ASSERT_FALSE(found.best.empty());
    const std::vector<Alternative> all = obvious_alternatives(request, found.best.front().plan);
    EXPECT_THAT(all, Not(IsEmpty()));
    for (const Alternative& a : all)
        if (a.tried.fits() && a.tried.missing.empty()) {
            EXPECT_LE(a.tried.samples_per_s().si(), found.best.front().samples_per_s.si() * (1 + 1e-9));
        }
}

TEST(Advice, PlainDataParallelismDividesNoModel) {
    const SearchRequest request = request_for(small_gpt());
    const std::vector<Alternative> all = obvious_alternatives(request, request.job.plan);
    const auto plain = std::ranges::find(all, ObviousKind::data_parallel, &Alternative::kind);
    ASSERT_NE(plain, all.end());
    const Plan& p = plain->tried.plan;
    EXPECT_EQ(p.dp, 16);
    EXPECT_EQ(p.tp * p.pp * p.cp, 1);
    EXPECT_EQ(p.data_parallel, DataParallel::all_reduce);
}

// A node has 8 devices, so that the fewest that cross it and divide 16 are 16.
TEST(Advice, TensorParallelismOverNodesTakesTheFewestRanksThatCross) {
    const SearchRequest request = request_for(small_gpt());
    const std::vector<Alternative> all = obvious_alternatives(request, request.job.plan);
    const auto across = std::ranges::find(all, ObviousKind::tensor_over_nodes, &Alternative::kind);
    ASSERT_NE(across, all.end());
    EXPECT_EQ(across->tried.plan.tp, 16);
}

// Megatron-LM of 2021 had no ZeRO: what it would come to is said, and that it is not to be had.
TEST(Advice, WhatTheFrameworkLacksIsPricedAndNamed) {
    const Scenario job = small_gpt();
    Plan plan = job.plan;
    plan.data_parallel = DataParallel::zero3;
    const TriedPlan tried = try_plan(job, plan);
    EXPECT_TRUE(tried.estimate);
    EXPECT_THAT(tried.missing, Contains(PlanFeature::zero3));
    EXPECT_THAT(try_plan(job, job.plan).missing, IsEmpty());
}

SearchRequest pinned_request() {
    SearchRequest request = request_for(bundled_scenario("does-not-fit"));
    request.pinned = {PlanField::tp,        PlanField::pp,      PlanField::cp,         PlanField::data_parallel,
                      PlanField::recompute, PlanField::offload, PlanField::micro_batch};
    return request;
}

// Seven billion parameters, 40 GB: plain data parallelism needs 16 bytes for each of them on every device.
TEST(Advice, RemediesFitAndChangeOneThingEach) {
    const SearchRequest request = pinned_request();
    EXPECT_TRUE(search(request).best.empty());
    const std::vector<Remedy> all = remedies(request);
    for (const Remedy& r : all) {
        EXPECT_TRUE(r.tried.fits());
        if (r.kind != RemedyKind::unpinned) continue;
        ASSERT_TRUE(r.field);
        for (const PlanField f : request.pinned)
            if (f != *r.field) {
                EXPECT_TRUE(same_field(f, r.tried.plan, request.job.plan)) << to_text(f);
            }
    }
    EXPECT_THAT(all, Contains(testing::Field(&Remedy::field, std::optional(PlanField::data_parallel))));
}

// Whatever the objective is: those before its place are no worse, those behind it are.
TEST(PlanAnswer, SaysHowManyOfTheBestAreNoWorseThanTheOwnOne) {
    for (const Objective objective : {Objective::throughput, Objective::memory}) {
        SearchRequest request = request_for(small_gpt());
        request.objective = objective;
        const std::vector<PlanChoice> best = search(request).best;
        ASSERT_GE(best.size(), 3U);
        for (const std::size_t i : {std::size_t{0}, std::size_t{2}})
            EXPECT_EQ(answer_of({request, best[i].plan, false}, search(request)).own_place, i + 1);
        EXPECT_EQ(answer_of({request, request.job.plan, false}, search(request)).own_place, best.size());
    }
    Scenario large = small_gpt();
    large.cluster.node.device.memory.value = 1 * units::GB;
    large.cluster.node.device.usable_memory.reset();
    const SearchRequest request = request_for(large);
    EXPECT_EQ(answer_of({request, large.plan, false}, search(request)).own_place, std::nullopt);
}

// Where nothing fits, the plan with the least memory has no more than the job's own, which offloads all that it can.
TEST(PlanAnswer, HasASmallestPlanThatIsNoLargerThanTheOwnOne) {
    SearchRequest request =
        request_for(bundled_scenario("does-not-fit", {"plan.data_parallel=zero3", "plan.offload=optimizer_and_parameters"}));
    request.job.cluster.node.device.memory.value = 1 * units::GB;
    request.job.cluster.node.device.usable_memory.reset();
    const Estimate own = estimate(prepare(request.job));
    EXPECT_FALSE(own.fits());
    const SearchResult found = search(request);
    EXPECT_THAT(found.best, IsEmpty());
    ASSERT_TRUE(found.smallest);
    EXPECT_LE(found.smallest->memory, own.peak_memory);
}

// Parameters and states of 70 billion parameters, 20 bytes each, in a host's 1.1 TB: devices have room, the host has not.
TEST(PlanAnswer, HasASmallestPlanForWhichAHostHasNoRoom) {
    const SearchRequest request = request_for(
        bundled_scenario("does-not-fit", {"workload=llama-3-70b", "plan.data_parallel=zero3", "plan.offload=optimizer_and_parameters"}));
    const Estimate own = estimate(prepare(request.job));
    EXPECT_LE(own.peak_memory, own.device_memory);
    EXPECT_FALSE(own.fits());
    const SearchResult found = search(request);
    EXPECT_THAT(found.best, IsEmpty());
    ASSERT_TRUE(found.smallest);
    EXPECT_LE(found.smallest->memory, own.peak_memory);
}

// What is offloaded, where eight ranks share states and where one is alone.
std::set<std::pair<DataParallel, Offload>> ways_to_offload(std::string_view framework, int tp) {
    Scenario job = bundled_scenario("does-not-fit", {"framework=" + std::string(framework)});
    job.plan.tp = tp;
    job.plan.dp = 8 / tp;
    std::set<std::pair<DataParallel, Offload>> ways;
    for (const Plan& p : sharings(plan_space(job, {}, 8), job.plan))
        if (p.offload != Offload::none) ways.emplace(p.data_parallel, p.offload);
    return ways;
}

TEST(PlanSpace, OffloadsWhatTheFrameworkCan) {
    using enum DataParallel;
    using enum Offload;
    using Ways = std::set<std::pair<DataParallel, Offload>>;
    const Ways all_of_deepspeed{{zero1, optimizer}, {zero2, optimizer}, {zero3, optimizer}, {zero3, optimizer_and_parameters}};
    EXPECT_EQ(ways_to_offload("deepspeed", 1), all_of_deepspeed);
    EXPECT_EQ(ways_to_offload("deepspeed", 8), (Ways{{all_reduce, optimizer}, {zero3, optimizer_and_parameters}}));
    EXPECT_EQ(ways_to_offload("pytorch-fsdp2", 1), (Ways{{zero3, optimizer_and_parameters}}));
    EXPECT_EQ(ways_to_offload("megatron-core", 1), (Ways{{zero1, optimizer}, {zero2, optimizer}, {zero3, optimizer}}));
    EXPECT_EQ(ways_to_offload("pytorch-ddp", 1), Ways{});
}

std::string refusal(const SearchRequest& request) {
    return problems_found_by([&] { return find_plan({request, request.job.plan, false}); }).at(0).what;
}

// 16 devices do not divide by 3, and have no 8 x 4; a micro-batch of 2 goes with anything.
TEST(PlanAnswer, RefusesPinsThatNoPlanCanHaveAndNamesThoseThatContradict) {
    SearchRequest request = request_for(small_gpt());
    request.job.plan.tp = 3;
    request.pinned = {PlanField::tp, PlanField::micro_batch};
    EXPECT_EQ(refusal(request), "no plan can be: nothing goes with tp=3 on 16 devices");
    request.job.plan.tp = 8;
    request.job.plan.pp = 4;
    request.pinned.insert(PlanField::pp);
    EXPECT_EQ(refusal(request), "no plan can be: nothing goes with tp=8, pp=4 on 16 devices");
}

// 175 billion parameters of 16 bytes are 2.8 TB, of which each of 32 devices would hold more than its 80 GB. Twice that is more than
// enough.
TEST(Advice, MoreDevicesAreNoMoreThanAreNeeded) {
    SearchRequest request = request_for(
        bundled_scenario("gpt3-175b-1024xa100", {"workload=gpt3-175b", "plan.tp=1", "plan.pp=1", "plan.dp=8", "plan.global_batch=960",
                                                 "plan.micro_batch=1", "plan.data_parallel=zero3", "framework=pytorch-fsdp"}));
    request.pinned = {PlanField::tp, PlanField::pp, PlanField::cp, PlanField::data_parallel, PlanField::offload};
    const std::vector<Remedy> all = remedies(request);
    const auto more = std::ranges::find(all, RemedyKind::devices, &Remedy::kind);
    ASSERT_NE(more, all.end());
    const int enough = more->tried.plan.devices();
    EXPECT_EQ(enough % 8, 0);
    EXPECT_NE(enough & (enough - 1), 0) << "no doubling of eight, so that doubling would have missed it";
    request.pinned.erase(PlanField::dp);
    for (int fewer = 8; fewer < enough; fewer += 8) {
        request.devices = {fewer};
        try {
            EXPECT_THAT(search(request).best, IsEmpty()) << fewer;
        } catch (const InputError&) {  // the batch does not divide so
        }
    }
}

TEST(Advice, StopsWhenAskedAndKeepsWhatItHas) {
    const SearchRequest request = request_for(small_gpt());
    const auto whole = obvious_alternatives(request, request.job.plan);
    int asked = 0;
    const auto part = obvious_alternatives(request, request.job.plan, [&] { return ++asked < 4; });
    EXPECT_EQ(asked, 4);
    EXPECT_LT(part.size(), whole.size());
    asked = 0;
    EXPECT_THAT(remedies(pinned_request(), [&] { return ++asked < 1; }), IsEmpty());
    EXPECT_EQ(asked, 1);
}

TEST(PlanAnswer, StopsWhenAskedAndKeepsWhatItHas) {
    const SearchRequest request = request_for(small_gpt());
    const PlanAnswer answer =
        find_plan({request, request.job.plan, true}, [](const PlanProgress& p) { return p.stage != PlanProgress::Stage::advice; });
    EXPECT_TRUE(answer.complete);
    EXPECT_THAT(answer.best, Not(IsEmpty()));
    EXPECT_THAT(answer.changes, IsEmpty());
}

// Eight ranks of a layer fill a node, so that all else crosses nodes, whichever ranks are numbered first.
TEST(PlanAnswer, ListsAPlanOnceAndNamesTheOtherPlacementsThatDoAsWell) {
    Scenario job = small_gpt();
    job.plan.tp = 8;
    SearchRequest request = request_for(job);
    request.top = 20;
    request.pinned = {PlanField::tp, PlanField::pp};
    const PlanAnswer answer = find_plan({request, request.job.plan, false});
    ASSERT_GT(answer.best.size(), 2u);
    const PlanSpace space = plan_space(request.job, request.pinned, job.plan.devices());
    std::size_t named = 0;
    for (std::size_t i = 0; i < answer.best.size(); ++i) {
        const RankedPlan& r = answer.best[i];
        for (std::size_t other = 0; other < i; ++other)
            EXPECT_FALSE(same_but_placement(r.choice.plan, answer.best[other].choice.plan)) << i << ", " << other;
        for (const auto& placement : placements(space, r.choice.plan)) {
            if (placement == r.choice.plan.placement) continue;
            Plan plan = r.choice.plan;
            plan.placement = placement;
            const double longer = try_plan(request.job, plan).estimate->step / r.choice.step;
            EXPECT_GE(longer, 1 - 1e-12) << i;
            EXPECT_EQ(std::ranges::count(r.other_placements, placement), longer <= 1.001 ? 1 : 0) << i;
        }
        named += r.other_placements.size();
    }
    EXPECT_GT(named, 0u);
}

TEST(PlanAnswer, PlaysTheBestPlansAndReportsOnThemAsPredictDoes) {
    const SearchRequest request = request_for(small_gpt());
    const PlanAnswer answer = find_plan({request, request.job.plan, true});
    ASSERT_EQ(answer.best.size(), 3u);
    for (const RankedPlan& r : answer.best) {
        const Scenario s = with_plan(request.job, r.choice.plan);
        EXPECT_NEAR(r.choice.step / predict(s).estimate.step, 1, 1e-9);
        ASSERT_TRUE(r.simulated);
        EXPECT_EQ(*r.simulated, simulate(s).report.estimate.step);
    }
}

}  // namespace
}  // namespace sextant
