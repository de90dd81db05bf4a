// Pipelines of equal blocks where nothing but arithmetic takes time: forward of a block is g, backward 2 g.
#include "model/predict/pipeline.hpp"
#include "model/predict/block_price.hpp"
#include "model/predict/state.hpp"
#include "model/predict/update.hpp"
#include "tests/predict/equal_blocks.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

TEST(PipelineTime, OfOneStageIsTheSumOfItsMicroBatches) {
    EXPECT_NEAR(step_of(pipeline_job(1, 8, Schedule::one_f_one_b, 4)), 8 * 4 * 3, 1e-9);
}

TEST(PipelineTime, OfEqualStagesIsMicroBatchesAndStagesLessOneTimesForwardAndBackward) {
    // (m + p - 1)(f + b) = (8 + 4 - 1) x 3 g, for GPipe and for 1F1B
    const Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b);
    const Estimate e = estimate(prepare(job));
    const Seconds g = one_product(job);
    EXPECT_NEAR(e.step / g, 33, 1e-9);
    EXPECT_NEAR(step_of(pipeline_job(4, 8, Schedule::gpipe)), 33, 1e-9);
    // The first stage ends last: 8 forward, 8 backward, and it waited for (p - 1)(f + b).
    EXPECT_EQ(e.last_stage, 0);
    EXPECT_NEAR(e.terms[Term::forward] / g, 8, 1e-9);
    EXPECT_NEAR(e.terms[Term::backward] / g, 16, 1e-9);
    EXPECT_NEAR(e.terms[Term::bubble] / g, 9, 1e-9);
}

TEST(PipelineTime, OfTenThousandStagesFollowsTheSameFormula) {
    // (m + p - 1)(f + b) = (1 + 9999) x 3 g, and the answer comes at once
    Scenario job = pipeline_job(10'000, 1, Schedule::one_f_one_b);
    job.cluster.nodes = 2500;
    EXPECT_NEAR(step_of(job), 30'000, 1e-6);
}

TEST(PipelineTime, WithOneMicroBatchIsThatOfOneStageAfterTheOther) {
    EXPECT_NEAR(step_of(pipeline_job(4, 1, Schedule::one_f_one_b)), 12, 1e-9);
    EXPECT_NEAR(step_of(pipeline_job(4, 1, Schedule::sequential)), 12, 1e-9);
}

TEST(PipelineTime, OfInterleavedChunksHasABubbleAsManyTimesSmaller) {
    // Two blocks to a stage, t = 6 g. Plain: (8 + 1) x 6 g. Two chunks: 8 x 6 g + 1 x 6 g / 2.
    Scenario job = pipeline_job(2, 8, Schedule::one_f_one_b, 4);
    EXPECT_NEAR(step_of(job), 54, 1e-9);
    job.plan.schedule = Schedule::interleaved;
    job.plan.vpp = 2;
    EXPECT_NEAR(step_of(job), 51, 1e-9);
}

TEST(PipelineTime, OfZeroBubbleFillsTheDrainWithWeightGradients) {
    // Of f + b = 3 g only f remains of the bubble of each stage: 8 x 3 g + 3 x g.
    EXPECT_NEAR(step_of(pipeline_job(4, 8, Schedule::zero_bubble)), 27, 1e-9);
}

// Blocks of g, two to a stage, t = 6 g: m t + (p - 1) g, as only the first forward is waited for.
TEST(PipelineTime, ThatTurnsBackFillsTheDrainToo) {
    for (const Schedule schedule : {Schedule::zero_bubble_v, Schedule::dual_pipe_v}) {
        Scenario job = pipeline_job(4, 8, schedule, 8);
        job.plan.vpp = 2;
        EXPECT_NEAR(step_of(job), 8 * 6 + 3, 1e-9);
        job.plan.global_batch *= 100;  // most of it is not played
        EXPECT_NEAR(step_of(job), 800 * 6 + 3, 1e-6);
    }
}

// Where nothing is played, too: 100 stages.
TEST(PipelineTime, ThatTurnsBackFollowsAFormulaWhereStagesAreMany) {
    Scenario job = pipeline_job(100, 300, Schedule::zero_bubble_v, 200);
    job.plan.vpp = 2;
    job.cluster.nodes = 25;
    EXPECT_NEAR(step_of(job), 300 * 6 + 99, 1e-6);
}

// The first stage has four blocks, the others two, so that it works 12 g on a micro-batch and they 6. It never waits from its first
// micro-batch to its last, but that with eight of them others still fill the pipeline: 100 take 92 x 12 g more than eight.
TEST(PipelineTime, ThatTurnsBackIsInTheLongRunThatOfItsSlowestStage) {
    Scenario job = pipeline_job(4, 100, Schedule::zero_bubble_v, 10);
    job.plan.vpp = 2;
    job.plan.stage_blocks = {2, 1, 1, 1, 1, 1, 1, 2};
    const double many = step_of(job);
    EXPECT_GE(many, 100 * 12 - 1e-9);
    EXPECT_LE(many, 100 * 12 + 9);
}

TEST(PipelineTime, OfUnequalStagesIsThatOfTheSlowestWhichWorksWhileOthersHaveItsMicroBatch) {
    // Stages of 2, 1, 1, 1 blocks: 8 x 6 g, and 9 g for the first micro-batch to the end and back, while the first stage goes forward
    // three times more, 6 g. While the last goes it has backwards to do.
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b, 5);
    job.plan.stage_blocks = {2, 1, 1, 1};
    EXPECT_NEAR(step_of(job), 48 + 3, 1e-9);
    job.plan.stage_blocks = {1, 1, 2, 1};  // two stages before it, 6 g; one behind it, 3 g, of which a forward hides 2
    EXPECT_NEAR(step_of(job), 48 + 6 + 1, 1e-9);
    // Stages of 4, 1, 1 blocks, two micro-batches: 2 x 12 g. They turn back at the second stage, which follows its last forward: 3 g more.
    job = pipeline_job(3, 2, Schedule::one_f_one_b, 6);
    job.plan.stage_blocks = {4, 1, 1};
    EXPECT_NEAR(step_of(job), 24 + 3, 1e-9);
}

TEST(PipelineTime, OfForwardAloneHasNoBackwardToWaitFor) {
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b);
    job.plan.forward_only = true;
    EXPECT_NEAR(step_of(job), 11, 1e-9);
}

TEST(PipelineTime, WithSendsBesideComputePaysThemWhileItFillsAndDrainsAndOnEveryRoundTrip) {
    // A send inside the node takes 10 us + 1 us and no time for its bytes. Three ahead and three back while the pipeline fills and drains.
    // Seven micro-batches more: four go to the end and back in one round trip, 2 x 3 sends, three in one to the stage before, 2 x 2.
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b);
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
    Scenario job = pipeline_job(2, 8, Schedule::gpipe);
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
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b);
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
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b);
    job.plan.recompute = Recompute::full;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.step / one_product(job), 32 + 8 + 2, 1e-9);
    EXPECT_NEAR(e.terms[Term::recompute] / one_product(job), 8, 1e-9);
}

TEST(HostTime, IsWhatTheDeviceWaitsBeyondItsOwnWork) {
    // Every launch costs the host 1 s; the device needs microseconds.
    Scenario job = pipeline_job(1, 1, Schedule::one_f_one_b, 1);
    const Prepared idle = prepare(job);
    int launches = 0;
    const BlockKernels& block = idle.state().templates.at(0);
    for (const auto* list : {&block.forward, &block.backward})
        for (const Kernel& k : *list) launches += k.launches;
    job.framework.dispatch = job.framework.backward_dispatch = round_machine::given(1 * s);
    EXPECT_NEAR(estimate(prepare(job)).step / s, launches, 1e-9);  // the device works meanwhile
    EXPECT_NEAR(estimate(prepare(job), {.host = 2}).step / s, launches / 2.0, 1e-9);
    job.plan.cuda_graph = true;  // launched as a whole
    EXPECT_NEAR(step_of(job), 3, 1e-9);
}

TEST(HostTime, OfAnUpdateHidesBehindADeviceThatIsNotThereYet) {
    Scenario job = pipeline_job(1, 4, Schedule::one_f_one_b, 1);
    job.plan.without_optimizer = false;
    job.framework.optimizer_kernels_per_tensor = round_machine::given(1000.0);
    const Seconds step = estimate(prepare(job)).step;
    job.framework.dispatch = round_machine::given(1 * us);
    const UpdateTime update = update_time(prepare(job).state(), 0, {});
    // The launches of the update take as long as what the device does until then and half of the update: nobody waits.
    job.framework.dispatch.value *= (step - 0.5 * update.device) / update.launches;
    EXPECT_NEAR(estimate(prepare(job)).step / step, 1, 0.05);  // but for the few launches of the micro-batches
    // Twice as long, the step is that of its launches.
    job.framework.dispatch.value *= 2;
    const Estimate waits = estimate(prepare(job));
    EXPECT_NEAR(waits.step / step, 2 * (step - 0.5 * update.device) / step, 0.05);
    EXPECT_NEAR(waits.terms[Term::launch] / step, waits.step / step - 1, 1e-9);
}

TEST(HostTime, FillsAndDrainsAPipelineWhoseHostsWaitForTransfers) {
    // A launch costs the host 1 s. The last of four stages, which has the loss, launches most: eight micro-batches, and while the pipeline
    // fills and drains what the three others launch for one. Hosts that issue ahead have done so by then.
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b);
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
    Scenario job = pipeline_job(1, 1, Schedule::one_f_one_b, 2);
    job.framework.checkpoint_overhead = round_machine::given(2 * s);
    EXPECT_LT(estimate(prepare(job)).step, 1 * s);  // nothing runs again: no checkpoint
    job.plan.recompute = Recompute::full;
    EXPECT_NEAR(estimate(prepare(job)).step / s, 2 * 2, 1e-3);
    job.plan.cuda_graph = true;
    EXPECT_LT(estimate(prepare(job)).step, 1 * s);
}

TEST(HostTime, IsAddedToThatOfTheDeviceWhereEachLaunchWaitsForItsKernel) {
    // The host needs less than the device for each kernel, and is hidden unless it waits.
    Scenario job = pipeline_job(1, 1, Schedule::one_f_one_b, 1);
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
    job.plan.launch_blocking = false;
    job.framework.launch_blocking = true;
    EXPECT_NEAR(estimate(prepare(job)).step / step, 1.01, 1e-9);
}

TEST(HostTime, OfMicroBatchAndStepAreOverheads) {
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
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
    pipeline.busiest_boundary = pipeline.busiest_stage = 10 * ms;
    pipeline_ends(pipeline, {stages, which}, ends);
    EXPECT_NEAR(ends.back() / ms, 83, 1e-9);
    EXPECT_NEAR(ends.front() / ms, 83 - 2 * (5 + 1), 1e-9);  // each stage before the last ends a send and a pass earlier
}

// Eight micro-batches through stages that are alike, each of which sends for so long in either direction, by one link and beside compute.
Seconds end_with_hidden_sends(const StageTimes& stage, std::size_t stages, Seconds send) {
    const std::vector<StageTimes> kinds{stage};
    const std::vector<std::size_t> which(stages, 0);
    std::vector<Seconds> ends(which.size());
    Pipeline pipeline;
    pipeline.micro_batches = 8;
    pipeline.hidden_send = pipeline.busiest_boundary = send;
    pipeline.busiest_stage = 2.0 * send;
    pipeline_ends(pipeline, {kinds, which}, ends);
    return ends.front();
}

TEST(PipelineTime, IsNoShorterThanWhatAStageSendsToBothItsNeighbours) {
    // Three stages of f = b = 1 ms. The one in the middle sends for 4 ms in either direction by the same link: eight micro-batches are
    // seven times 8 ms apart, one passes all stages in 6 ms, and filling and draining wait for four sends.
    StageTimes stage;
    stage.forward = stage.backward = 1 * ms;
    EXPECT_NEAR(end_with_hidden_sends(stage, 3, 4 * ms) / ms, 7 * 8 + 6 + 4 * 4, 1e-9);
}

TEST(PipelineTime, ARoundTripPassesStagesByWhatTheyDoForItsMicroBatchAlone) {
    // Four stages of 5 ms a micro-batch, 2 of which they spend before its input arrives. The last begins at 5 + 3 + 3 and ends 7 x 5 + 3
    // later, at 49. Sends of 2 ms: filling and draining wait for six. A round trip over four stages takes 4 x 3 + 6 x 2, 4 more than the
    // 4 x 5 of a stage, one over three 3 x 3 + 4 x 2, 2 more.
    StageTimes stage;
    stage.early = stage.backward = 2 * ms;
    stage.forward = 3 * ms;
    EXPECT_NEAR(end_with_hidden_sends(stage, 4, 2 * ms) / ms, 49 + 6 * 2 + 4 + 2, 1e-9);
}

TEST(PipelineTime, BeginsToGoBackWhenTheFirstMicroBatchHasComeBackFromTheStagesBehind) {
    // Stages of f = 1, 3 and b = 2, 6, sends of 1: forwards are through at 1 + 1 + 3, and the first gradient is back at 5 + 6 + 1. GPipe's
    // seven other forwards take 3 each before.
    std::vector<StageTimes> stages(2);
    stages[0].forward = 1 * ms, stages[0].backward = 2 * ms;
    stages[1].forward = 3 * ms, stages[1].backward = 6 * ms;
    const std::vector<std::size_t> which{0, 1};
    Pipeline pipeline;
    pipeline.micro_batches = 8;
    pipeline.hidden_send = 1 * ms;
    EXPECT_NEAR(first_backward(pipeline, {stages, which}, 1) / ms, 5, 1e-9);
    EXPECT_NEAR(first_backward(pipeline, {stages, which}, 0) / ms, 12, 1e-9);
    pipeline.schedule = Schedule::gpipe;
    EXPECT_NEAR(first_backward(pipeline, {stages, which}, 0) / ms, 12 + 7 * 3, 1e-9);
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

}  // namespace
}  // namespace sextant
