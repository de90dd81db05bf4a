// The order of each stage under every schedule, the transfers between stages and what waits for them. Four equal blocks, or as many as
// chunks.
#include "tests/lower/graph_text.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using graph_text::Words;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Scenario pipeline(Schedule schedule, int stages, int micro_batches, int chunks = 1) {
    Scenario job = mlp_job(std::max(4, stages * chunks));
    job.plan.schedule = schedule;
    job.plan.pp = stages;
    job.plan.vpp = chunks;
    job.plan.global_batch = micro_batches * job.plan.micro_batch;
    job.plan.pipeline_overlap = true;
    return job;
}

// Of every stage, without what the framework does beside.
std::vector<std::string> orders(const Scenario& job) {
    const TaskGraph graph = lower(job, Fold::alike);
    const Words words(graph);
    std::vector<std::string> list;
    for (GraphRank stage = 0; stage < graph.ranks().size(); ++stage) {
        std::string text = words.stream(stage);
        for (const std::string_view skipped : {"o ", " ="})
            for (auto at = text.find(skipped); at != std::string::npos; at = text.find(skipped)) text.erase(at, skipped.size());
        list.push_back(text);
    }
    return list;
}

TEST(LoweredSchedule, OneAfterTheOtherThroughAllStages) {
    EXPECT_THAT(orders(pipeline(Schedule::sequential, 2, 1)), ElementsAre("F0 B0", "F0 B0"));
}

TEST(LoweredSchedule, OfGPipeGoesBackInReverse) {
    EXPECT_THAT(orders(pipeline(Schedule::gpipe, 2, 3)), ElementsAre("F0 F1 F2 B2 B1 B0", "F0 F1 F2 B2 B1 B0"));
}

TEST(LoweredSchedule, OfOneForwardOneBackwardWarmsUpTheDeeperTheEarlierTheStage) {
    EXPECT_THAT(orders(pipeline(Schedule::one_f_one_b, 2, 3)), ElementsAre("F0 F1 B0 F2 B1 B2", "F0 B0 F1 B1 F2 B2"));
    EXPECT_THAT(orders(pipeline(Schedule::one_f_one_b, 4, 4)),
                ElementsAre("F0 F1 F2 F3 B0 B1 B2 B3", "F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"));
}

TEST(LoweredSchedule, OfTwoChunksInterleavesThem) {
    // Warm-up of 2 (p - s - 1) + p passes: all four on the first stage, two on the second.
    EXPECT_THAT(orders(pipeline(Schedule::interleaved, 2, 2, 2)), ElementsAre("F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0",  //
                                                                              "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0"));
}

TEST(LoweredSchedule, OfZeroBubblePutsOffTheGradientsOfWeights) {
    EXPECT_THAT(orders(pipeline(Schedule::zero_bubble, 2, 3)), ElementsAre("F0 F1 I0 W0 F2 I1 W1 I2 W2", "F0 I0 F1 I1 W0 F2 I2 W1 W2"));
}

TEST(LoweredSchedule, ThatTurnsBackHasBothEndsOnTheFirstStage) {
    EXPECT_THAT(orders(pipeline(Schedule::zero_bubble_v, 2, 2, 2)),
                ElementsAre("F0.0 F1.0 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 I0.0 W0.0 I1.0 W1.0",  //
                            "F0.0 F0.1 F1.0 F1.1 I0.1 W0.1 I0.0 W0.0 I1.1 W1.1 I1.0 W1.0"));
    // Whole backwards in between, two parts where the pipeline fills and drains.
    EXPECT_THAT(orders(pipeline(Schedule::dual_pipe_v, 2, 4, 2)),
                ElementsAre("F0.0 F1.0 F2.0 F0.1 I0.1 W0.1 F1.1 F3.0 B1.1 F2.1 B0.0 B2.1 F3.1 B1.0 B3.1 I2.0 W2.0 I3.0 W3.0",
                            "F0.0 F0.1 F1.0 F1.1 F2.0 B0.1 F2.1 B0.0 F3.0 B1.1 F3.1 B1.0 B2.1 B2.0 I3.1 I3.0 W3.1 W3.0"));
}

TEST(LoweredSchedule, OfForwardAloneHasNoBackward) {
    Scenario job = pipeline(Schedule::one_f_one_b, 2, 2);
    job.plan.forward_only = true;
    EXPECT_THAT(orders(job), ElementsAre("F0 F1", "F0 F1"));
    const TaskGraph graph = lower(job, Fold::alike);
    EXPECT_EQ(Words(graph).stream(0, Stream::send_next), ">0 >1");
    EXPECT_THAT(Words(graph).waits(), UnorderedElementsAre("0 >0 after 0 F0", "0 >1 after 0 F1", "1 F0 after 0 >0", "1 F1 after 0 >1"));
}

TEST(LoweredSchedule, DoesTheFrameworksPartOncePerMicroBatchAndOncePerStep) {
    const TaskGraph graph = lower(pipeline(Schedule::interleaved, 2, 2, 2), Fold::alike);
    EXPECT_EQ(Words(graph).stream(1), "o F0.0 o F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0 =");
}

TEST(LoweredTransfers, GoBesideComputeWhereTheyOverlap) {
    const TaskGraph graph = lower(pipeline(Schedule::one_f_one_b, 2, 2), Fold::alike);
    const Words words(graph);
    EXPECT_EQ(words.stream(0), "o F0 o F1 B0 B1 =");
    EXPECT_EQ(words.stream(0, Stream::send_next), ">0 >1");
    EXPECT_EQ(words.stream(1, Stream::send_previous), "<0 <1");
    EXPECT_THAT(words.waits(), UnorderedElementsAre("0 >0 after 0 F0", "0 >1 after 0 F1", "1 F0 after 0 >0", "1 F1 after 0 >1",  //
                                                    "1 <0 after 1 B0", "1 <1 after 1 B1", "0 B0 after 1 <0", "0 B1 after 1 <1"));
}

TEST(LoweredTransfers, HoldUpTheSenderWhereTheyDoNot) {
    Scenario job = pipeline(Schedule::one_f_one_b, 2, 2);
    job.plan.pipeline_overlap = false;
    const TaskGraph graph = lower(job, Fold::alike);
    const Words words(graph);
    EXPECT_EQ(words.stream(0), "o F0 >0 o F1 >1 B0 B1 =");
    EXPECT_EQ(words.stream(1), "o F0 B0 <0 o F1 B1 <1 =");
    EXPECT_THAT(words.waits(), UnorderedElementsAre("1 F0 after 0 >0", "1 F1 after 0 >1", "0 B0 after 1 <0", "0 B1 after 1 <1"));
}

TEST(LoweredTransfers, LeadFromTheLastStageToTheNextChunkOfTheFirst) {
    const TaskGraph graph = lower(pipeline(Schedule::interleaved, 2, 2, 2), Fold::alike);
    const Words words(graph);
    EXPECT_EQ(words.stream(1, Stream::send_next), ">0.0 >1.0");
    EXPECT_EQ(words.stream(0, Stream::send_next), ">0.0 >1.0 >0.1 >1.1");
    EXPECT_EQ(words.stream(0, Stream::send_previous), "<0.1 <1.1");
    EXPECT_THAT(words.waits(),
                testing::IsSupersetOf({"0 F0.1 after 1 >0.0", "1 F0.1 after 0 >0.1", "1 B0.0 after 0 <0.1", "0 B0.0 after 1 <0.0"}));
}

TEST(LoweredTransfers, ThatTurnBackGoTheWayTheyCame) {
    const TaskGraph graph = lower(pipeline(Schedule::zero_bubble_v, 3, 1, 2), Fold::alike);
    const Words words(graph);
    EXPECT_EQ(words.stream(0, Stream::send_next), ">0.0 <0.1");
    EXPECT_EQ(words.stream(0, Stream::send_previous), "");
    EXPECT_EQ(words.stream(1, Stream::send_next), ">0.0 <0.1");
    EXPECT_EQ(words.stream(1, Stream::send_previous), ">0.1 <0.0");
    EXPECT_EQ(words.stream(2, Stream::send_next), "");
    EXPECT_EQ(words.stream(2, Stream::send_previous), ">0.1 <0.0");
    EXPECT_THAT(words.waits(), testing::IsSupersetOf({"1 F0.0 after 0 >0.0", "1 F0.1 after 2 >0.1", "0 F0.1 after 1 >0.1",  //
                                                      "1 I0.1 after 0 <0.1", "2 I0.1 after 1 <0.1", "0 I0.0 after 1 <0.0"}));
}

TEST(LoweredTransfers, OfZeroBubbleFollowTheGradientsOfInputs) {
    const TaskGraph graph = lower(pipeline(Schedule::zero_bubble, 2, 2), Fold::alike);
    EXPECT_THAT(Words(graph).waits(), testing::IsSupersetOf({"1 <0 after 1 I0", "1 <1 after 1 I1", "0 I0 after 1 <0", "0 I1 after 1 <1"}));
}

TEST(LoweredTransfers, CarryWhatTheLastBlockOfTheStageHandsOn) {
    // 1024 samples of 1024 elements, bf16.
    const TaskGraph graph = lower(pipeline(Schedule::one_f_one_b, 2, 1), Fold::alike);
    int transfers = 0;
    for (const Work& work : graph.works()) {
        const auto* transfer = std::get_if<TransferWork>(&work);
        if (!transfer) continue;
        ++transfers;
        EXPECT_EQ(transfer->elements, 1024 * 1024);
        EXPECT_EQ(transfer->type, DataType::bf16);
    }
    EXPECT_GT(transfers, 0);
}

TEST(LoweredTransfers, AreCutOverTheTensorGroupAndGatheredBehindWhereTheFrameworkDoes) {
    Scenario job = pipeline(Schedule::one_f_one_b, 2, 1);
    job.plan.tp = 2;
    job.framework.scatters_pipeline = true;
    const TaskGraph graph = lower(job, Fold::alike);
    const Words words(graph);
    // Beside compute, like the transfers: the gather waits for the transfer, the pass for the gather.
    EXPECT_EQ(words.stream(1, Stream::communication), "AG");
    EXPECT_EQ(words.stream(0, Stream::communication), "AG");
    EXPECT_THAT(words.waits(), UnorderedElementsAre("0 >0 after 0 F0", "1 AG after 0 >0", "1 F0 after 1 AG",  //
                                                    "1 <0 after 1 B0", "0 AG after 1 <0", "0 B0 after 0 AG",
                                                    // no step ends before its last collective
                                                    "0 = after 0 AG", "1 = after 1 AG"));
    for (const Work& work : graph.works()) {
        if (const auto* transfer = std::get_if<TransferWork>(&work)) {
            EXPECT_EQ(transfer->elements, 1024 * 1024 / 2);
        }
        if (const auto* gather = std::get_if<CollectiveWork>(&work)) {
            EXPECT_EQ(gather->elements, 1024 * 1024);
            EXPECT_EQ(gather->group, ParallelGroup::tensor);
        }
    }
    job.plan.pipeline_overlap = false;
    const TaskGraph blocking = lower(job, Fold::alike);
    EXPECT_EQ(Words(blocking).stream(0), "o F0 >0 AG B0 =");
    EXPECT_EQ(Words(blocking).stream(1), "o AG F0 B0 <0 =");
}

TEST(LoweredRecompute, MarksTheFirstLayersOfEachStage) {
    Scenario job = pipeline(Schedule::one_f_one_b, 2, 1);
    const auto marks = [&] {
        const TaskGraph graph = lower(job, Fold::alike);
        std::vector<bool> list;
        for (const BlockInstance& block : graph.blocks()) list.push_back(block.recomputed);
        return list;
    };
    EXPECT_THAT(marks(), ElementsAre(false, false, false, false));
    job.plan.recompute = Recompute::full;  // the head is no layer
    EXPECT_THAT(marks(), ElementsAre(true, true, true, false));
    job.plan.recompute = Recompute::blocks;
    job.plan.recompute_blocks = 1;
    EXPECT_THAT(marks(), ElementsAre(true, false, true, false));
    job.plan.forward_only = true;
    EXPECT_THAT(marks(), ElementsAre(false, false, false, false));
}

TEST(LoweredOffload, UpdatesInHostMemory) {
    Scenario job = pipeline(Schedule::one_f_one_b, 1, 2);
    job.plan.without_optimizer = false;
    job.plan.offload = Offload::optimizer;
    const TaskGraph updates = lower(job, Fold::alike);
    EXPECT_EQ(Words(updates).stream(0), "o F0 B0 o F1 B1 D =");
}

}  // namespace
}  // namespace sextant
