// Runs are made of the simulated step: one that went as predicted, and then some of its spans take longer.
#include "model/report/comparison.hpp"

#include "model/base/diagnostics.hpp"
#include "model/plan/job_settings.hpp"
#include "model/sextant.hpp"
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/predict/mlp_job.hpp"
#include "tests/properties/played_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sextant {
namespace {

using namespace units;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Each rank holds what is predicted for its stage, all of it in arrays.
RunRecord run_as_predicted(const Scenario& job) {
    RunRecord run;
    run.scenario = job.name;
    run.scenario_file = "layers.json";
    run.trace = PlayableScenario(job, Fold::nothing).play().trace;
    run.losses = {2, 1};
    run.steps = {2 * run.trace.end, run.trace.end};
    const Estimate e = estimate(prepare(job));
    for (const TraceRank& r : run.trace.ranks) {
        const Bytes held = r.server ? Bytes{} : e.memory[static_cast<std::size_t>(r.stage)].total();
        run.ranks.push_back({r.rank, "", "", 1, held, held, {}, {}});
    }
    return run;
}

// The first of this kind on this rank.
SpanIndex index_of(const Trace& trace, GraphRank rank, SpanKind kind) {
    const auto span = std::ranges::find_if(trace.spans, [&](const Span& s) { return s.rank == rank && s.kind == kind; });
    return static_cast<SpanIndex>(span - trace.spans.begin());
}

// That span takes longer, and all that began when it was over, or later, begins later.
void delay(RunRecord& run, GraphRank rank, SpanKind kind, Seconds by) {
    Span& late = run.trace.spans[index_of(run.trace, rank, kind)];
    const Seconds end = late.end;
    for (Span& s : run.trace.spans)
        if (s.start >= end) s.start += by, s.end += by;
    late.end += by;
    run.trace.end += by;
    run.steps.back() += by;
}

Seconds total_of(const Trace& trace, SpanKind kind) {
    Seconds sum;
    for (const Span& s : trace.spans)
        if (s.kind == kind) sum += s.end - s.start;
    return sum;
}

void expect_near(Seconds found, Seconds expected) { EXPECT_NEAR(found / us, expected / us, 1e-6); }

TEST(Comparison, OfARunThatWentAsPredictedHasRatiosOfOneAndNoResidual) {
    const Scenario job = products_job(4);
    const Comparison c = compare(job, run_as_predicted(job));
    const Seconds g = one_product(job);
    expect_near(c.step.predicted, 12 * g);
    expect_near(c.step.simulated, 12 * g);
    expect_near(c.step.measured, 12 * g);
    expect_near(c.terms.measured[Term::forward], 4 * g);
    expect_near(c.terms.measured[Term::backward], 8 * g);
    EXPECT_NEAR(c.residual.seconds / us, 0, 1e-6);
    EXPECT_NEAR(c.samples_per_s.measured.si(), 1024 / (12 * g).si(), 1e-3);
    EXPECT_FALSE(c.tokens_per_s);
    EXPECT_FALSE(c.hidden.measured);  // nobody communicates
    EXPECT_EQ(c.first_loss, 2);
    EXPECT_EQ(c.last_loss, 1);
    EXPECT_THAT(c.notes, IsEmpty());
}

TEST(Comparison, SaysWhatWouldBePredictedForTheLoadThatExpertsHad) {
    const std::string name = "experts-on-cores";
    const Scenario even = bundled_scenario(name), uneven = bundled_scenario(name, {"workload.transformer.moe.imbalance=1.6"});
    RunRecord run = run_as_predicted(even);
    run.expert_rank_imbalance = {2, 1.6};  // of its two steps the second is drawn
    run.traced_step = 1;
    const Seconds step = predict(uneven).estimate.step;
    EXPECT_GT(step, 1.1 * predict(even).estimate.step);
    EXPECT_THAT(compare(even, run).notes, Contains(AllOf(HasSubstr("\"imbalance\": 1.6"), HasSubstr(to_text(step)))));
    EXPECT_THAT(compare(uneven, run).notes, Not(Contains(HasSubstr("imbalance"))));
    const Scenario limited = bundled_scenario(name, {"workload.transformer.moe.capacity_factor=1"});
    EXPECT_THAT(compare(limited, run).notes, Not(Contains(HasSubstr("imbalance"))));
}

TEST(Comparison, BackwardThatTakesTwiceAsLongPointsToTheRateOfTheDevice) {
    // 8 g become 16: the step 20 g instead of 12, all of the difference in backward, at half the rate.
    const Scenario job = products_job(4);
    const Seconds g = one_product(job);
    RunRecord run = run_as_predicted(job);
    delay(run, 0, SpanKind::backward, 8 * g);
    const Comparison c = compare(job, run);
    EXPECT_NEAR(c.step.measured / c.step.predicted, 20.0 / 12, 1e-9);
    EXPECT_EQ(c.residual.term, Term::backward);
    expect_near(c.residual.seconds, 8 * g);
    EXPECT_NEAR(c.residual.share, 1, 1e-6);
    ASSERT_TRUE(c.residual.input);
    EXPECT_EQ(c.residual.input->resource, &Resources::compute);
    EXPECT_THAT(c.residual.points_to, HasSubstr("rate that round device sustains"));
    ASSERT_TRUE(c.residual.explained_at);
    EXPECT_NEAR(*c.residual.explained_at, 0.5, 1e-6);
    ASSERT_THAT(c.kernels, SizeIs(2));
    EXPECT_NEAR(c.kernels[0].measured / c.kernels[0].simulated, 1, 1e-9);
    EXPECT_EQ(c.kernels[1].kind, SpanKind::backward);
    EXPECT_NEAR(c.kernels[1].measured / c.kernels[1].simulated, 0.5, 1e-9);
}

TEST(Comparison, AnExchangeThatTakesLongerPointsToTheLink) {
    // 1024 x 1024 weights and 1024 biases in bf16, 2,099,200 bytes, over a crossbar of 100 GB/s. The link is all that takes time beside the
    // products, so three times the time is a third of its bandwidth.
    Scenario job = products_job(1);
    job.cluster.node.peers.link.bandwidth = round_machine::given(100 * GB / s);
    job.plan.dp = 2;
    job.plan.global_batch = 2048;
    RunRecord run = run_as_predicted(job);
    const Seconds exchange = total_of(run.trace, SpanKind::data_exchange) / 2;  // on each of two ranks
    EXPECT_NEAR(exchange / us, 20.992, 1e-6);
    Seconds start;
    for (Span& s : run.trace.spans)
        if (s.kind == SpanKind::data_exchange) s.end += 2 * exchange, start = s.start;
    for (Span& s : run.trace.spans)
        if (s.kind != SpanKind::data_exchange && s.start > start) s.start += 2 * exchange, s.end += 2 * exchange;
    run.trace.end += 2 * exchange;
    const Comparison c = compare(job, run);
    EXPECT_EQ(c.residual.term, Term::data_communication);
    expect_near(c.residual.seconds, 2 * exchange);
    ASSERT_TRUE(c.residual.input);
    EXPECT_EQ(c.residual.input->resource, &Resources::node_bandwidth);
    ASSERT_TRUE(c.residual.explained_at);
    EXPECT_NEAR(*c.residual.explained_at, 1.0 / 3, 1e-6);
    ASSERT_THAT(c.exchanges, SizeIs(1));
    EXPECT_NEAR(c.exchanges[0].measured / c.exchanges[0].simulated, 1.0 / 3, 1e-9);
    EXPECT_EQ(c.hidden.measured, 0);
}

TEST(Comparison, ARankThatIsSlowIsTheStragglerOfTheOthers) {
    // Both compute 12 g; the second needs 3 g more for backward. The exchange takes no time and begins with the later one: the first, which
    // is the last to finish as much as the other, waits for 3 g.
    Scenario job = products_job(4);
    job.plan.dp = 2;
    job.plan.global_batch = 2048;
    const Seconds g = one_product(job);
    RunRecord run = run_as_predicted(job);
    delay(run, 1, SpanKind::backward, 3 * g);
    for (Span& s : run.trace.spans)
        if (s.kind == SpanKind::data_exchange) s.cause = index_of(run.trace, 1, SpanKind::backward);
    const Comparison c = compare(job, run);
    EXPECT_EQ(c.measured_rank, 0);
    EXPECT_EQ(c.residual.term, Term::straggler);
    expect_near(c.residual.seconds, 3 * g);
    EXPECT_FALSE(c.residual.input);
    EXPECT_THAT(c.residual.points_to, HasSubstr("backward took " + to_text(8 * g) + " on one rank of stage 0 and " + to_text(11 * g)));
    ASSERT_THAT(c.ranks, SizeIs(2));
    expect_near(c.ranks[0].measured.terms[Term::straggler], 3 * g);
    expect_near(c.ranks[1].measured.terms[Term::backward], 11 * g);
    expect_near(c.ranks[1].simulated.terms[Term::backward], 8 * g);
}

TEST(Comparison, BubbleBehindASlowStagePointsToWhatThatStageDoes) {
    // Of five blocks stage 1 has three. Stage 0 computes 6 g and waits for the 9 g of stage 1: 15 g. When backward of stage 1 takes 12 g
    // instead of 6, stage 0 waits 6 g longer, and half the rate of the device would explain it.
    Scenario job = products_job(5);
    job.plan.pp = 2;
    job.plan.stage_blocks = {2, 3};
    const Seconds g = one_product(job);
    RunRecord run = run_as_predicted(job);
    expect_near(run.trace.end, 15 * g);
    delay(run, 1, SpanKind::backward, 6 * g);
    const Comparison c = compare(job, run);
    EXPECT_EQ(c.stage, 0);
    expect_near(c.terms.predicted[Term::bubble], 9 * g);
    expect_near(c.terms.measured[Term::bubble], 15 * g);
    EXPECT_NEAR(c.bubble.predicted, 9.0 / 15, 1e-9);
    EXPECT_NEAR(c.bubble.measured, 15.0 / 21, 1e-9);
    EXPECT_EQ(c.residual.term, Term::bubble);
    EXPECT_THAT(c.residual.points_to,
                HasSubstr("stage 1, which the others wait for: its backward takes " + to_text(12 * g) + ", " + to_text(6 * g)));
    ASSERT_TRUE(c.residual.input);
    EXPECT_EQ(c.residual.input->resource, &Resources::compute);
    ASSERT_TRUE(c.residual.explained_at);
    EXPECT_NEAR(*c.residual.explained_at, 0.5, 1e-6);
}

TEST(Comparison, BubbleBehindAStageThatWasNotToBeTheSlowestPointsThereToo) {
    // Stage 0 has three of the five blocks, and yet it waits for backward of stage 1, which takes 10 g instead of 4.
    Scenario job = products_job(5);
    job.plan.pp = 2;
    job.plan.stage_blocks = {3, 2};
    const Seconds g = one_product(job);
    RunRecord run = run_as_predicted(job);
    delay(run, 1, SpanKind::backward, 6 * g);
    const Comparison c = compare(job, run);
    EXPECT_EQ(c.prediction.estimate.slowest_stage, 0);
    EXPECT_EQ(c.residual.term, Term::bubble);
    EXPECT_THAT(c.residual.points_to, HasSubstr("stage 1, which the others wait for: its backward takes " + to_text(10 * g)));
    ASSERT_TRUE(c.residual.input);
    EXPECT_EQ(c.residual.input->resource, &Resources::compute);
    EXPECT_FALSE(c.residual.explained_at);  // of that stage the closed form does not speak
}

TEST(Comparison, BubbleThatNoStageExplainsPointsToHowTheyShareTheWork) {
    // What stage 0 waits for is sent 5 g late, and nothing says why: both stages compute 6 g as predicted.
    Scenario job = products_job(4);
    job.plan.pp = 2;
    const Seconds g = one_product(job);
    RunRecord run = run_as_predicted(job);
    const SpanIndex sent = index_of(run.trace, 1, SpanKind::pipeline_transfer);
    for (const SpanIndex i : {sent, index_of(run.trace, 0, SpanKind::backward)})
        run.trace.spans[i].start += 5 * g, run.trace.spans[i].end += 5 * g;
    run.trace.spans[sent].cause = sent;
    run.trace.end += 5 * g;
    const Comparison c = compare(job, run);
    EXPECT_EQ(c.residual.term, Term::bubble);
    expect_near(c.residual.seconds, 5 * g);
    EXPECT_FALSE(c.residual.input);
    EXPECT_THAT(c.residual.points_to, AllOf(HasSubstr("plan.stage_blocks"), HasSubstr("1.00 times the mean of the ranks, 1.00 were")));
}

TEST(Comparison, MemoryBesideTheArraysPointsToTheFrameworkAndArraysToTheModel) {
    const Scenario job = products_job(4);
    RunRecord run = run_as_predicted(job);
    run.ranks[0].peak_resident += 100 * MB;
    const Comparison beside = compare(job, run);
    ASSERT_TRUE(beside.memory_residual);
    EXPECT_NEAR(beside.memory_residual->bytes / MB, 100, 1e-6);
    ASSERT_TRUE(beside.memory_residual->input);
    EXPECT_THAT(beside.memory_residual->input->name, HasSubstr("memory of libraries"));
    run.ranks[0].peak_memory += 100 * MB;
    const Comparison arrays = compare(job, run);
    EXPECT_FALSE(arrays.memory_residual->input);
    EXPECT_THAT(arrays.memory_residual->points_to, HasSubstr("arrays of training"));
}

TEST(Comparison, EveryTermHasARatioThatConditionsMayAskFor) {
    const Scenario job = products_job(1);
    const auto known = comparable_quantities(job);
    EXPECT_NO_THROW(static_cast<void>(holds(parse_condition("ratio.forward > 1.2"), known)));
    // What was measured and not predicted is beyond any multiple of it; what is neither is as predicted.
    std::vector<NamedQuantity> list;
    Terms predicted, measured;
    measured[Term::bubble] = 1 * s;
    add_term_quantities(list, predicted, measured);
    EXPECT_TRUE(holds(parse_condition("ratio.bubble > 1000"), list));
    EXPECT_TRUE(holds(parse_condition("ratio.forward == 1"), list));
}

TEST(Comparison, StepTimesAreTheMedianWithoutTheFirst) {
    // 9 s prepare; of 2, 3, 4 and 8 the lesser of two in the middle is the step whose trace a run keeps.
    const Scenario job = products_job(1);
    RunRecord run = run_as_predicted(job);
    run.steps = {9 * s, 2 * s, 8 * s, 4 * s, 3 * s};
    const StepTimes t = compare(job, run).steps;
    EXPECT_EQ(t.count, 5);
    EXPECT_EQ(t.median, 3 * s);
    EXPECT_EQ(t.fastest, 2 * s);
    EXPECT_EQ(t.slowest, 8 * s);
    EXPECT_EQ(t.first, 9 * s);
    run.steps = {9 * s};
    const Comparison one = compare(job, run);
    EXPECT_EQ(one.steps.median, 9 * s);
    EXPECT_FALSE(one.steps.first);
    EXPECT_THAT(one.notes, testing::Contains(HasSubstr("run more steps")));
}

TEST(Comparison, OfAsynchronousServersATraceIsOfSeveralSteps) {
    // One walk through the graph is as many steps of each worker as the simulation has; the walks before the last took twice as long. Of
    // four steps that found weights 0 updates old and of twelve that found them 1 old, the mean is 0.75.
    Scenario job = products_job(2);
    job.plan.dp = 2;
    job.plan.global_batch = 2048;
    job.plan.data_parallel = DataParallel::async_parameter_server;
    RunRecord run = run_as_predicted(job);
    const auto walk = static_cast<std::size_t>(simulate(job).steps);
    ASSERT_GT(walk, 1U);
    const Seconds step = run.trace.end / static_cast<double>(walk);
    run.steps.assign(walk, 2 * step);
    run.steps.insert(run.steps.end(), walk, step);
    run.losses.assign(2 * walk, 1);
    run.servers = ServerSummary{.staleness = {4, 12}};
    const Comparison c = compare(job, run);
    EXPECT_EQ(c.steps.first, 2 * step);
    EXPECT_EQ(c.steps.slowest, step);
    EXPECT_NEAR(c.step.measured / c.step.simulated, 1, 1e-9);
    EXPECT_NEAR(c.terms.measured.total() / step, 1, 1e-9);
    ASSERT_TRUE(c.staleness);
    EXPECT_EQ(c.staleness->measured, 0.75);
    ASSERT_THAT(c.ranks, SizeIs(3));
    EXPECT_TRUE(c.ranks[2].server);
}

TEST(Comparison, ConditionsMayAskForRatiosAndResiduals) {
    const Scenario job = products_job(4);
    const Seconds g = one_product(job);
    RunRecord run = run_as_predicted(job);
    delay(run, 0, SpanKind::backward, 8 * g);
    const std::vector<NamedQuantity> quantities = named_quantities(compare(job, run));
    const auto held = [&](const std::string& text) { return holds(parse_condition(text), quantities); };
    EXPECT_TRUE(held("step_time_ratio > 1.66"));  // 20 / 12
    EXPECT_FALSE(held("step_time_ratio > 1.67"));
    EXPECT_TRUE(held("largest_residual > " + to_text(7.9 * g, 6)));
    EXPECT_FALSE(held("largest_residual > " + to_text(8.1 * g, 6)));
    EXPECT_TRUE(held("largest_residual_share > 99 %"));
    EXPECT_TRUE(held("ratio.backward > 1.99"));
    EXPECT_FALSE(held("ratio.forward > 1.01"));
    EXPECT_TRUE(held("last_loss == 1"));
    EXPECT_TRUE(held("ratio.bubble == 1"));  // none is predicted, and none was
}

TEST(Comparison, ALossThatDivergedIsAboveEveryBound) {
    const Scenario job = products_job(4);
    RunRecord run = run_as_predicted(job);
    for (const double diverged : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        run.losses.back() = diverged;
        EXPECT_TRUE(holds(parse_condition("last_loss > 1000000"), named_quantities(compare(job, run)))) << diverged;
    }
}

TEST(Comparison, ARunOfAnotherBatchPrecisionOrOptimizerIsRefusedThoughItDidTheSameWorks) {
    Scenario job = products_job(4);
    job.plan.without_optimizer = false;
    RunRecord run = run_as_predicted(job);
    run.settings = job_settings(job);
    EXPECT_NO_THROW(compare(job, run));
    job.plan.micro_batch *= 2;
    job.plan.global_batch *= 2;
    job.plan.precision = precision_policy(DataType::fp32);
    job.plan.optimizer = Optimizer::momentum;
    const auto compared = [&] { return compare(job, run); };
    EXPECT_THAT(refused_pointers(compared),
                testing::ElementsAre("/plan/global_batch", "/plan/micro_batch", "/plan/optimizer", "/plan/precision"));
    EXPECT_THAT(refusal_by(compared),
                AllOf(HasSubstr("the run had micro_batch 1024, this scenario has 2048"), HasSubstr("this scenario has momentum")));
}

}  // namespace
}  // namespace sextant
