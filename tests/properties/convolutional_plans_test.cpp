// What a convolutional network's blocks are for: gradients that travel behind backward, and stages of a pipeline.
#include "model/lower/lower.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::ElementsAre;

// Blocks of each compute segment of this phase on the first rank, in order.
std::vector<int> blocks_by_segment(const TaskGraph& graph, Phase phase) {
    std::vector<int> counts;
    for (const Segment& s : graph.segments())
        if (const auto* work = std::get_if<ComputeWork>(&graph.works()[s.work]); work && s.rank == 0 && work->phase == phase)
            counts.push_back(work->count);
    return counts;
}

TEST(ConvolutionalPlans, DdpReducesResnet50InFourBucketsBehindBackward) {
    // Buckets of 25 MiB = 26.21 MB hold 6.55 million fp32 gradients; a block that fills one closes it. Parameters from the back:
    //   head 2048 x 1000 + 1000 = 2.05 M; stage 4: 4.46, 4.46 and, with the shortcut, 6.04 M; stage 3: five of 1.12 and one of 1.51 M;
    //   stage 2: three of 0.28 and one of 0.38 M; stage 1 and the stem 0.23 M together.
    //   head + 4.46 = 6.51 M is just short, so one more: 3 blocks. 6.04 + 1.12: 2 blocks.
    //   4 x 1.12 + 1.51 + 2 x 0.28 = 6.54 M is just short, so one more: 8 blocks. What is left: 5.
    const TaskGraph graph = lower(bundled_scenario("resnet50-snellius-4xa100", {"framework=\"pytorch-ddp\""}), Fold::alike);
    EXPECT_THAT(blocks_by_segment(graph, Phase::backward), ElementsAre(3, 2, 8, 5));
}

TEST(ConvolutionalPlans, HorovodHandsOnTheGradientsOfEachBlockOfResnet50) {
    // Its buffer of 128 MB would hold all 102 MB of gradients: the cycle of 1 ms sends them on earlier.
    const TaskGraph graph = lower(bundled_scenario("resnet50-lisa-16-nodes"), Fold::alike);
    EXPECT_EQ(blocks_by_segment(graph, Phase::backward), std::vector<int>(18, 1));
}

TEST(ConvolutionalPlans, MostOfTheAllReduceOfResnet50HidesBehindBackward) {
    // Early blocks have most of the time and few of the parameters: stem, stages 1 and 2 have 6 % of them.
    for (const char* framework : {"pytorch-ddp", "horovod-pytorch"}) {
        const Scenario job = bundled_scenario("resnet50-lisa-16-nodes", {"framework=\"" + std::string(framework) + '"'});
        const Estimate e = simulate(job).report.estimate;
        EXPECT_LT(e.terms[Term::data_communication], 0.06 * e.overlapped[Term::data_communication]) << framework;
    }
}

TEST(ConvolutionalPlans, TwoStagesOfResnet50MeetBehindTheFirstBlockOfStage3) {
    // 16 bottlenecks, 8 to a stage: 3 + 4 + 1 behind the stem. What crosses is 1024 x 14 x 14 for each of 16 images.
    const TaskGraph graph =
        lower(bundled_scenario("resnet50-snellius-4xa100", {"plan.dp=1", "plan.pp=2", "plan.micro_batch=16", "plan.global_batch=64"}),
              Fold::alike);
    EXPECT_EQ(blocks_by_segment(graph, Phase::forward), std::vector<int>(4, 1 + 8));
    int transfers = 0;
    for (const Work& work : graph.works()) {
        const auto* transfer = std::get_if<TransferWork>(&work);
        if (transfer == nullptr) continue;
        ++transfers;
        EXPECT_EQ(transfer->elements, 16 * 1024 * 14 * 14);
    }
    EXPECT_EQ(transfers, 2);  // activations one way, their gradients the other
}

TEST(ConvolutionalPlans, StagesOfConvolutionalNetworksAreFasterThanOneUnderEverySchedule) {
    const auto step = [](const std::string& network, std::vector<std::string> plan) {
        plan.insert(plan.end(), {"workload=\"" + network + '"', "framework=\"megatron-core\"", "plan.dp=1", "plan.micro_batch=16",
                                 "plan.global_batch=256"});
        const Scenario job = bundled_scenario("resnet50-snellius-4xa100", plan);
        EXPECT_GT(predict(job).estimate.step, Seconds{});
        return simulate(job).report.estimate.step;
    };
    for (const std::string network : {"resnet50", "vgg16", "inception_v3", "densenet121"}) {
        const Seconds alone = step(network, {"plan.pp=1"});
        for (const std::string schedule : {"gpipe", "1f1b", "zero_bubble"})
            EXPECT_LT(step(network, {"plan.pp=4", "plan.schedule=\"" + schedule + '"'}), 0.6 * alone) << network << ", " << schedule;
        EXPECT_LT(step(network, {"plan.pp=2", "plan.vpp=2", "plan.schedule=\"interleaved\""}), 0.8 * alone) << network;
    }
}

}  // namespace
}  // namespace sextant
