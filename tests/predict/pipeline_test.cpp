// Pipelines of equal blocks where nothing but arithmetic takes time: forward of a block is g, backward 2 g.
#include "model/predict/pipeline.hpp"
#include "model/predict/state.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using namespace units;

Scenario pipeline(int stages, std::int64_t micro_batches, Schedule schedule, int blocks) {
    Scenario job = mlp_job(blocks);
    round_machine::only_arithmetic_counts(job);
    job.plan.pp = stages;
    job.plan.global_batch = 1024 * micro_batches;
    job.plan.schedule = schedule;
    return job;
}
Scenario pipeline(int stages, std::int64_t micro_batches, Schedule schedule) { return pipeline(stages, micro_batches, schedule, stages); }

// In units of g.
double step(const Scenario& job) { return estimate(prepare(job)).step / one_product(job); }

TEST(PipelineTime, OfOneStageIsTheSumOfItsMicroBatches) { EXPECT_NEAR(step(pipeline(1, 8, Schedule::one_f_one_b, 4)), 8 * 4 * 3, 1e-9); }

TEST(PipelineTime, OfEqualStagesIsMicroBatchesAndStagesLessOneTimesForwardAndBackward) {
    // (m + p - 1)(f + b) = (8 + 4 - 1) x 3 g, for GPipe and for 1F1B
    const Scenario job = pipeline(4, 8, Schedule::one_f_one_b);
    const Estimate e = estimate(prepare(job));
    const Seconds g = one_product(job);
    EXPECT_NEAR(e.step / g, 33, 1e-9);
    EXPECT_NEAR(step(pipeline(4, 8, Schedule::gpipe)), 33, 1e-9);
    // The first stage ends last: 8 forward, 8 backward, and it waited for (p - 1)(f + b).
    EXPECT_EQ(e.last_stage, 0);
    EXPECT_NEAR(e.terms[Term::forward] / g, 8, 1e-9);
    EXPECT_NEAR(e.terms[Term::backward] / g, 16, 1e-9);
    EXPECT_NEAR(e.terms[Term::bubble] / g, 9, 1e-9);
}

TEST(PipelineTime, OfTenThousandStagesFollowsTheSameFormula) {
    // (m + p - 1)(f + b) = (1 + 9999) x 3 g, and the answer comes at once
    Scenario job = pipeline(10'000, 1, Schedule::one_f_one_b);
    job.cluster.nodes = 2500;
    EXPECT_NEAR(step(job), 30'000, 1e-6);
}

TEST(PipelineTime, WithOneMicroBatchIsThatOfOneStageAfterTheOther) {
    EXPECT_NEAR(step(pipeline(4, 1, Schedule::one_f_one_b)), 12, 1e-9);
    EXPECT_NEAR(step(pipeline(4, 1, Schedule::sequential)), 12, 1e-9);
}

TEST(PipelineTime, OfInterleavedChunksHasABubbleAsManyTimesSmaller) {
    // Two blocks to a stage, t = 6 g. Plain: (8 + 1) x 6 g. Two chunks: 8 x 6 g + 1 x 6 g / 2.
    Scenario job = pipeline(2, 8, Schedule::one_f_one_b, 4);
    EXPECT_NEAR(step(job), 54, 1e-9);
    job.plan.schedule = Schedule::interleaved;
    job.plan.vpp = 2;
    EXPECT_NEAR(step(job), 51, 1e-9);
}

TEST(PipelineTime, OfZeroBubbleFillsTheDrainWithWeightGradients) {
    // Of f + b = 3 g only f remains of the bubble of each stage: 8 x 3 g + 3 x g.
    EXPECT_NEAR(step(pipeline(4, 8, Schedule::zero_bubble)), 27, 1e-9);
}

// Blocks of g, two to a stage, t = 6 g: m t + (p - 1) g, as only the first forward is waited for.
TEST(PipelineTime, ThatTurnsBackFillsTheDrainToo) {
    for (const Schedule schedule : {Schedule::zero_bubble_v, Schedule::dual_pipe_v}) {
        Scenario job = pipeline(4, 8, schedule, 8);
        job.plan.vpp = 2;
        EXPECT_NEAR(step(job), 8 * 6 + 3, 1e-9);
        job.plan.global_batch *= 100;  // most of it is not played
        EXPECT_NEAR(step(job), 800 * 6 + 3, 1e-6);
    }
}

// Where nothing is played, too: 100 stages.
TEST(PipelineTime, ThatTurnsBackFollowsAFormulaWhereStagesAreMany) {
    Scenario job = pipeline(100, 300, Schedule::zero_bubble_v, 200);
    job.plan.vpp = 2;
    job.cluster.nodes = 25;
    EXPECT_NEAR(step(job), 300 * 6 + 99, 1e-6);
}

// The first stage has four blocks, the others two, so that it works 12 g on a micro-batch and they 6. It never waits from its first
// micro-batch to its last, but that with eight of them others still fill the pipeline: 100 take 92 x 12 g more than eight.
TEST(PipelineTime, ThatTurnsBackIsInTheLongRunThatOfItsSlowestStage) {
    Scenario job = pipeline(4, 100, Schedule::zero_bubble_v, 10);
    job.plan.vpp = 2;
    job.plan.stage_blocks = {2, 1, 1, 1, 1, 1, 1, 2};
    const double many = step(job);
    EXPECT_GE(many, 100 * 12 - 1e-9);
    EXPECT_LE(many, 100 * 12 + 9);
}

TEST(PipelineTime, OfUnequalStagesIsThatOfTheSlowestWhichWorksWhileOthersHaveItsMicroBatch) {
    // Stages of 2, 1, 1, 1 blocks: 8 x 6 g, and 9 g for the first micro-batch to the end and back, while the first stage goes forward
    // three times more, 6 g. While the last goes it has backwards to do.
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b, 5);
    job.plan.stage_blocks = {2, 1, 1, 1};
    EXPECT_NEAR(step(job), 48 + 3, 1e-9);
    job.plan.stage_blocks = {1, 1, 2, 1};  // two stages before it, 6 g; one behind it, 3 g, of which a forward hides 2
    EXPECT_NEAR(step(job), 48 + 6 + 1, 1e-9);
    // Stages of 4, 1, 1 blocks, two micro-batches: 2 x 12 g. They turn back at the second stage, which follows its last forward: 3 g more.
    job = pipeline(3, 2, Schedule::one_f_one_b, 6);
    job.plan.stage_blocks = {4, 1, 1};
    EXPECT_NEAR(step(job), 24 + 3, 1e-9);
}

TEST(PipelineTime, OfForwardAloneHasNoBackwardToWaitFor) {
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b);
    job.plan.forward_only = true;
    EXPECT_NEAR(step(job), 11, 1e-9);
}

TEST(PipelineTime, WithSendsBesideComputePaysThemWhileItFillsAndDrainsAndOnEveryRoundTrip) {
    // A send inside the node takes 10 us + 1 us and no time for its bytes. Three ahead and three back while the pipeline fills and drains.
    // Seven micro-batches more: four go to the end and back in one round trip, 2 x 3 sends, three in one to the stage before, 2 x 2.
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b);
    for (Protocol& p : job.library.protocols) {
        p.base = round_machine::given(10 * us);
        p.ring_step[static_cast<std::size_t>(Hop::nvlink)] = round_machine::given(1 * us);
    }
    job.plan.pipeline_overlap = true;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR((e.step - 33.0 * one_product(job)) / us, (6 + 6 + 4) * 11, 1e-6);
    EXPECT_EQ(e.terms[Term::pipeline_communication], Seconds{});
    job.plan.forward_only = true;  // nothing is sent back: 11 g + 3 x 11 us
    EXPECT_NEAR((estimate(prepare(job)).step - 11.0 * one_product(job)) / us, 3 * 11, 1e-6);
}

// A link that takes ten times as long as a stage: eight micro-batches cross it one after another, each way, whatever hides behind them.
TEST(PipelineTime, OfGPipeIsNoShorterThanItsSends) {
    Scenario job = pipeline(2, 8, Schedule::gpipe);
    job.plan.pipeline_overlap = true;
    const Seconds x = 10 * one_product(job);
    for (Protocol& p : job.library.protocols) p.base = round_machine::given(x);
    EXPECT_NEAR(estimate(prepare(job)).step / x, 16, 0.8);
    job.plan.forward_only = true;
    EXPECT_NEAR(estimate(prepare(job)).step / x, 8, 0.4);
}

TEST(PipelineTime, WithSendsInTurnWithComputeCountsThemWithTheirMicroBatchAndOnlyThere) {
    // Between the ends a stage sends ahead and back, t = 3 g + 22 us; the first only ahead, the last only back, t = 3 g + 11 us.
    // The second starts after 3 g + 11 us and works for 8 (3 g + 22 us). Behind it a micro-batch takes 6 g + 33 us, of which two forwards
    // of g + 11 us hide a part for the first, two backwards of 2 g + 11 us for the last: 6 g + 22 us are left. The first stage sends
    // 8 x 11 us itself.
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b);
    for (Protocol& p : job.library.protocols) {
        p.base = round_machine::given(10 * us);
        p.ring_step[static_cast<std::size_t>(Hop::nvlink)] = round_machine::given(1 * us);
    }
    job.plan.pipeline_overlap = false;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR((e.step - 33.0 * one_product(job)) / us, 11 + 8 * 22 + 22, 1e-6);
    EXPECT_NEAR(e.terms[Term::pipeline_communication] / us, 8 * 11, 1e-6);
    job.plan.forward_only = true;  // 10 x (g + 11 us), and the last stage, which sends nothing
    EXPECT_NEAR((estimate(prepare(job)).step - 11.0 * one_product(job)) / us, 10 * 11, 1e-6);
}

TEST(PipelineTime, OfFullRecomputeAddsAForwardToEachBackward) {
    // Layers run forward again, the head does not: t = 4 g on three stages, 3 g on the last. The third works for 8 x 4 g behind 2 x 4 g; of
    // the 3 g behind it a forward hides 1 g for the first micro-batch, a backward everything for the last.
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b);
    job.plan.recompute = Recompute::full;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.step / one_product(job), 32 + 8 + 2, 1e-9);
    EXPECT_NEAR(e.terms[Term::recompute] / one_product(job), 8, 1e-9);
}

TEST(HostTime, IsWhatTheDeviceWaitsBeyondItsOwnWork) {
    // Every launch costs the host 1 s; the device needs microseconds.
    Scenario job = pipeline(1, 1, Schedule::one_f_one_b, 1);
    const Prepared idle = prepare(job);
    int launches = 0;
    const BlockKernels& block = idle.state().templates.at(0);
    for (const auto* list : {&block.forward, &block.backward})
        for (const Kernel& k : *list) launches += k.launches;
    job.framework.dispatch = job.framework.backward_dispatch = round_machine::given(1 * s);
    EXPECT_NEAR(estimate(prepare(job)).step / s, launches, 1e-9);  // the device works meanwhile
    EXPECT_NEAR(estimate(prepare(job), {.host = 2}).step / s, launches / 2.0, 1e-9);
    job.plan.cuda_graph = true;  // launched as a whole
    EXPECT_NEAR(step(job), 3, 1e-9);
}

TEST(HostTime, FillsAndDrainsAPipelineWhoseHostsWaitForTransfers) {
    // A launch costs the host 1 s. The last of four stages, which has the loss, launches most: eight micro-batches, and while the pipeline
    // fills and drains what the three others launch for one. Hosts that issue ahead have done so by then.
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b);
    job.framework.dispatch = job.framework.backward_dispatch = round_machine::given(1 * s);
    const Prepared ahead = prepare(job);
    const auto launches = [](const BlockKernels& block) {
        int sum = 0;
        for (const auto* list : {&block.forward, &block.backward})
            for (const Kernel& k : *list) sum += k.launches;
        return sum;
    };
    const int first = launches(ahead.state().templates.front()), last = launches(ahead.state().templates.back());
    ASSERT_GT(last, first);
    EXPECT_NEAR(estimate(ahead).step / s, 8 * last, 1e-3);
    job.framework.waits_for_transfers = true;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.step / s, 8 * last + 3 * first, 1e-9);
    EXPECT_EQ(e.last_stage, 0);
    EXPECT_NEAR(e.terms[Term::launch] / s, 8 * first, 1e-3);
    EXPECT_NEAR(e.terms.total() / e.step, 1, 1e-12);
    job.plan.pipeline_overlap = true;
    EXPECT_NEAR(estimate(prepare(job)).step / s, 8 * last, 1e-3);
}

TEST(HostTime, OfACheckpointIsPaidInForwardAndWhenTheBlockRunsAgain) {
    // One layer, of which the host takes 2 s each time it runs forward; kernels take microseconds. The head is never run again.
    Scenario job = pipeline(1, 1, Schedule::one_f_one_b, 2);
    job.framework.checkpoint_overhead = round_machine::given(2 * s);
    EXPECT_LT(estimate(prepare(job)).step, 1 * s);  // nothing runs again: no checkpoint
    job.plan.recompute = Recompute::full;
    EXPECT_NEAR(estimate(prepare(job)).step / s, 2 * 2, 1e-3);
    job.plan.cuda_graph = true;
    EXPECT_LT(estimate(prepare(job)).step, 1 * s);
}

TEST(HostTime, IsAddedToThatOfTheDeviceWhereEachLaunchWaitsForItsKernel) {
    // The host needs less than the device for each kernel, and is hidden unless it waits.
    Scenario job = pipeline(1, 1, Schedule::one_f_one_b, 1);
    const Prepared before = prepare(job);
    const Seconds step = estimate(before).step;
    int launches = 0;
    const BlockKernels& block = before.state().templates.at(0);
    for (const auto* list : {&block.forward, &block.backward})
        for (const Kernel& k : *list) launches += k.launches;
    job.framework.dispatch = job.framework.backward_dispatch = round_machine::given(0.01 / launches * step);
    EXPECT_NEAR(estimate(prepare(job)).step / step, 1, 1e-9);
    job.plan.launch_blocking = true;
    EXPECT_NEAR(estimate(prepare(job)).step / step, 1.01, 1e-9);
}

TEST(HostTime, OfMicroBatchAndStepAreOverheads) {
    Scenario job = pipeline(1, 8, Schedule::one_f_one_b, 1);
    job.framework.micro_batch_overhead = round_machine::given(1 * ms);
    job.framework.step_overhead = round_machine::given(5 * ms);
    job.cluster.node.host.thread_speed.value = 0.5;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.terms[Term::overhead] / ms, 2 * (8 * 1 + 5), 1e-9);
    EXPECT_NEAR((e.step - 24.0 * one_product(job)) / ms, 26, 1e-6);
}

TEST(PipelineTime, OfForwardsIsNoShorterThanWhatTheBusiestBoundaryCarries) {
    // Three stages of 1 ms. The first boundary takes 10 ms for each of eight micro-batches, from the first's 1 ms on, and the second none:
    // 81 ms, and the last micro-batch passes two more stages.
    std::vector<StageTimes> stages(1);
    stages[0].forward = 1 * ms;
    const std::vector<std::size_t> which(3, 0);
    std::vector<Seconds> ends(which.size());
    Pipeline pipeline;
    pipeline.micro_batches = 8;
    pipeline.forward_only = true;
    pipeline.hidden_send = 5 * ms;
    pipeline.busiest_boundary = 10 * ms;
    pipeline_ends(pipeline, {stages, which}, ends);
    EXPECT_NEAR(ends.front() / ms, 83, 1e-9);
}

TEST(PipelineTime, HasWhatExchangesTakeLongerBesideOtherStagesOnlyWhereMicroBatchesFollowEachOther) {
    // Four stages of f = 1 ms and b = 3 ms, of which 1 ms because they meet. The slowest has eight micro-batches of 4 ms, the others are
    // passed in 3 ms.
    std::vector<StageTimes> stages(1);
    stages[0].forward = 1 * ms;
    stages[0].backward = 3 * ms;
    stages[0].met = 1 * ms;
    const std::vector<std::size_t> which(4, 0);
    std::vector<Seconds> ends(which.size());
    Pipeline pipeline;
    pipeline.micro_batches = 8;
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::gpipe}) {
        pipeline.schedule = schedule;
        pipeline_ends(pipeline, {stages, which}, ends);
        EXPECT_NEAR(ends.front() / ms, 8 * 4 + 3 * 3, 1e-9);
        EXPECT_NEAR((ends.front() - ends.back()) / ms, 3 * 2, 1e-9);  // each drains in 2 ms
    }
    // Links that they share may have more to carry.
    pipeline.shared_links = 50 * ms;
    pipeline_ends(pipeline, {stages, which}, ends);
    EXPECT_NEAR(ends.front() / ms, 50, 1e-9);
}

TEST(Straggler, StretchesKernelsAlone) {
    // Four copies that reduce their gradients after backward: 24 g of products take twice as long, and nothing else.
    Scenario job = pipeline(1, 8, Schedule::one_f_one_b, 1);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    job.framework.step_overhead = round_machine::given(5 * ms);
    job.cluster.node.peers.link.bandwidth = round_machine::given(1 * GB / s);
    const Estimate even = estimate(prepare(job));
    ASSERT_GT(even.terms[Term::data_communication], one_product(job));
    job.straggler = Straggler{.devices = 1, .speed = 0.5};
    EXPECT_NEAR((estimate(prepare(job)).step - even.step) / one_product(job), 24, 1e-6);
}

TEST(Straggler, OfAStageThatOthersWaitForAnywayDelaysThemOnce) {
    // Two stages of one block and of three: of eight micro-batches the second has 8 x 9 g to do, and waits 3 g for the first one's first.
    // At half the speed that stage has 6 g to do with each, still less than 9: the step ends 1 g later for the first forward, and 2 g for
    // the last backward.
    Scenario job = pipeline(2, 8, Schedule::one_f_one_b, 4);
    job.plan.stage_blocks = {1, 3};
    EXPECT_NEAR(step(job), 3 + 72, 1e-6);
    job.straggler = Straggler{.devices = 1, .speed = 0.5};
    EXPECT_NEAR(step(job), 6 + 72, 1e-6);
}

TEST(Straggler, OfNoisyRanksWaitsForTheExpectedSlowest) {
    // Eight ranks whose steps spread by 1 %: the slowest stands at the quantile (8 - 0.375) / (8 + 0.25) = 0.92424 of a normal
    // distribution, 1.4342 standard deviations of 24 g above the mean (order statistics tables: 1.4236).
    Scenario job = pipeline(1, 8, Schedule::one_f_one_b, 1);
    job.plan.dp = 8;
    job.plan.global_batch *= 8;
    job.step_noise = 0.01;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.terms[Term::straggler] / one_product(job), 0.01 * 1.4342 * 24, 1e-5);
    job.plan.dp = 1;
    job.plan.global_batch /= 8;
    EXPECT_EQ(estimate(prepare(job)).terms[Term::straggler], Seconds{});  // alone nobody waits
}

TEST(Straggler, OfHalfTheSpeedDoublesTheStep) {
    Scenario job = pipeline(1, 8, Schedule::one_f_one_b, 1);
    job.straggler = Straggler{.devices = 1, .speed = 0.5};
    EXPECT_NEAR(step(job), 48, 1e-9);
}

TEST(Straggler, OfAsynchronousServersCostsTheWorkThatItLeavesUndone) {
    // One of eight devices at half the speed: the eight do the work of 7.5. Nobody waits: 8 / 7.5 - 1 = 1/15 of 24 g; noise averages out.
    Scenario job = pipeline(1, 8, Schedule::one_f_one_b, 1);
    job.plan.dp = 8;
    job.plan.global_batch *= 8;
    job.plan.data_parallel = DataParallel::async_parameter_server;
    job.plan.servers_on_workers = true;
    job.cluster.node.host.memory_bandwidth = round_machine::given(1e12 * TB / s);
    job.step_noise = 0.01;
    job.straggler = Straggler{.devices = 1, .speed = 0.5};
    EXPECT_NEAR(estimate(prepare(job)).terms[Term::straggler] / one_product(job), 24.0 / 15, 1e-9);
    job.straggler.reset();
    EXPECT_EQ(estimate(prepare(job)).terms[Term::straggler], Seconds{});
}

TEST(Flops, AreCountedForTheWholeJobWithAndWithoutWhatIsRunAgain) {
    // Four products of 2 x 1024^3 forward, twice that backward, 8 micro-batches; three of the blocks run forward once more.
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b);
    job.plan.recompute = Recompute::full;
    const Estimate e = estimate(prepare(job));
    const double product = 2.0 * 1024 * 1024 * 1024;
    EXPECT_DOUBLE_EQ(e.model_flops.si(), 8 * 12 * product);
    EXPECT_DOUBLE_EQ(e.hardware_flops.si(), 8 * 15 * product);
}

TEST(Flops, ThatAJobNeedsAreTheSameWhereTensorRanksDoTheSameTwice) {
    // Latent attention goes down to its ranks on every tensor rank, of all tokens unless these are cut over them; and eight ranks have a
    // copy each of two key-value heads.
    const std::vector<std::string> latent{"plan.pp=8",
                                          "plan.dp=16",
                                          "plan.ep=16",
                                          "plan.schedule=\"1f1b\"",
                                          "plan.global_batch=1536",
                                          "plan.recompute=\"none\"",
                                          "plan.recompute_modules=[]"};
    const std::vector<std::string> heads{"workload.kv_heads=2", "plan.stage_blocks=[]",   "plan.pp=4",
                                         "plan.vpp=1",          "plan.schedule=\"1f1b\"", "plan.dp=2"};
    for (const auto& job : {std::pair("deepseek-v3-2048xh100", latent), std::pair("llama-2-70b-128xh100", heads)}) {
        SCOPED_TRACE(job.first);
        const auto flops = [&](const std::string& tp, const std::string& sequence_parallel) {
            std::vector<std::string> set = job.second;
            set.push_back("plan.tp=" + tp);
            set.push_back("plan.sequence_parallel=" + sequence_parallel);
            return estimate(prepare(bundled_scenario(job.first, set)));
        };
        const Estimate alone = flops("1", "false"), whole = flops("8", "false"), cut = flops("8", "true");
        EXPECT_EQ(whole.model_flops, alone.model_flops);
        EXPECT_EQ(cut.model_flops, alone.model_flops);
        EXPECT_GT(whole.hardware_flops, 1.001 * alone.hardware_flops);
        EXPECT_LE(cut.hardware_flops, whole.hardware_flops);
    }
}

TEST(Estimate, CountsScoresThatAMaskHidesInWhatIsExecutedNotInWhatIsNeeded) {
    // Written out, all 2048 x 2048 scores of a head are computed, of which the causal mask leaves half.
    const auto flops = [](const char* flash, const char* tp) {
        return estimate(prepare(bundled_scenario("gpt3-175b-1024xa100", {std::string("plan.flash_attention=") + flash, tp})));
    };
    for (const char* tp : {"plan.tp=8", "plan.tp=1"}) {
        SCOPED_TRACE(tp);
        const Estimate plain = flops("false", tp), flash = flops("true", tp);
        EXPECT_EQ(plain.model_flops, flash.model_flops);
        EXPECT_GT(plain.hardware_flops, flash.hardware_flops);
    }
}

TEST(Estimate, AddsUpShardsWhereGradientsAreScatteredBehindEachMicroBatch) {
    // 64 ranks: of a micro-batch's gradients each adds a 64th to those before. Scattered once a step they are added whole.
    const auto backward = [](const char* batch, const char* every) {
        return estimate(prepare(bundled_scenario("llama-3-8b-fsdp-64xh100", {std::string("plan.global_batch=") + batch,
                                                                             std::string("plan.reduce_every_micro_batch=") + every})))
            .terms[Term::backward];
    };
    const Seconds alone = backward("64", "true"), in_shards = backward("128", "true"), whole = backward("128", "false");
    EXPECT_NEAR(in_shards / alone, 2, 0.01);
    EXPECT_GT(whole / alone, 2.05);
}

TEST(Terms, OfTheSlowestStageStandBesideThoseOfTheOneThatFinishesLast) {
    // Stages of 1, 1, 2, 1 blocks: 55 g. The first finishes last and works 24 g of it; the third works 8 x 6 g and waits 7 g.
    Scenario job = pipeline(4, 8, Schedule::one_f_one_b, 5);
    job.plan.stage_blocks = {1, 1, 2, 1};
    const Estimate e = estimate(prepare(job));
    const Seconds g = one_product(job);
    EXPECT_EQ(e.last_stage, 0);
    EXPECT_NEAR(e.terms[Term::bubble] / g, 31, 1e-9);
    EXPECT_EQ(e.slowest_stage, 2);
    EXPECT_NEAR(e.slowest[Term::forward] / g, 16, 1e-9);
    EXPECT_NEAR(e.slowest[Term::backward] / g, 32, 1e-9);
    EXPECT_NEAR(e.slowest[Term::bubble] / g, 7, 1e-9);
    EXPECT_NEAR(e.slowest.total() / e.step, 1, 1e-12);
}

TEST(Terms, SumToTheStepAndBetterResourcesAreNeverSlower) {
    Scenario job = mlp_job(8);
    job.plan.dp = 2;
    job.plan.pp = 2;
    job.plan.global_batch = 1024 * 2 * 4;
    job.plan.without_optimizer = false;
    job.framework.dispatch = job.framework.backward_dispatch = round_machine::given(5 * us);
    const Prepared prepared = prepare(job);
    const Estimate e = estimate(prepared);
    EXPECT_DOUBLE_EQ(e.terms.total() / e.step, 1);
    for (const auto field :
         {&Resources::compute, &Resources::memory_bandwidth, &Resources::node_bandwidth, &Resources::network_bandwidth, &Resources::latency,
          &Resources::host, &Resources::kernel_overhead, &Resources::storage, &Resources::overlap}) {
        Resources better;
        better.*field = 2;
        EXPECT_LE(estimate(prepared, better).step, e.step);
    }
}

}  // namespace
}  // namespace sextant
