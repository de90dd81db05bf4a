// Gradients, sharded states and weights, parameter servers: what is reduced, gathered and scattered when. Four equal blocks of 1024 x 1024
// weights and 1024 biases, 2.1 MB in bf16.
#include "model/plan/buckets.hpp"
#include "tests/lower/graph_text.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using graph_text::Words;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

constexpr double weights = 1024 * 1024 + 1024;  // of a block

Scenario copies(DataParallel how, int micro_batches = 1, int dp = 2) {
    Scenario job = mlp_job(4);
    job.plan.data_parallel = how;
    job.plan.dp = dp;
    job.plan.global_batch = dp * micro_batches * job.plan.micro_batch;
    job.plan.without_optimizer = false;
    return job;
}

Scenario overlapped(DataParallel how, int micro_batches = 1) {
    Scenario job = copies(how, micro_batches);
    job.plan.gradient_overlap = job.plan.gather_overlap = true;
    return job;
}

std::string compute(const Scenario& job, bool blocks = true) {
    const TaskGraph graph = lower(job, Fold::alike);
    return Words(graph, blocks).stream(0);
}
std::string communication(const Scenario& job) {
    const TaskGraph graph = lower(job, Fold::alike);
    return Words(graph, true).stream(0, Stream::communication);
}
std::vector<std::string> waits(const Scenario& job) {
    const TaskGraph graph = lower(job, Fold::alike);
    return Words(graph, true).waits();
}

// All-reduce.

TEST(LoweredGradients, WithoutOverlapAreReducedOnceEverythingIsComputed) {
    EXPECT_EQ(compute(copies(DataParallel::all_reduce, 2)), "o F0[0-3] B0[0-3] o F1[0-3] B1[0-3] AR[0-3] U =");
    EXPECT_EQ(communication(copies(DataParallel::all_reduce, 2)), "");
}

TEST(LoweredGradients, WithoutABucketSizeAreOneExchange) {
    const Scenario job = overlapped(DataParallel::all_reduce);
    EXPECT_EQ(compute(job), "o F0[0-3] B0[0-3] U =");
    EXPECT_EQ(communication(job), "AR[0-3]");
    EXPECT_THAT(waits(job), UnorderedElementsAre("0 AR[0-3] after 0 B0[0-3]", "0 U after 0 AR[0-3]"));
}

TEST(LoweredGradients, InBucketsAreReducedWhileBackwardGoesOn) {
    // Two blocks hold 4.2 MB, more than 3: they go together, in two calls.
    Scenario job = overlapped(DataParallel::all_reduce);
    job.framework.bucket = round_machine::given(3 * MB);
    EXPECT_EQ(compute(job), "o F0[0-3] B0[2-3] B0[0-1] U =");
    EXPECT_EQ(communication(job), "AR[2-3]x2 AR[0-1]x2");
    EXPECT_THAT(waits(job), UnorderedElementsAre("0 AR[2-3]x2 after 0 B0[2-3]", "0 AR[0-1]x2 after 0 B0[0-1]", "0 U after 0 AR[0-1]x2"));
}

TEST(LoweredGradients, InABucketLargerThanAllOfThemAreOneExchange) {
    Scenario job = overlapped(DataParallel::all_reduce);
    job.framework.bucket = round_machine::given(25 * MB);
    EXPECT_EQ(communication(job), "AR[0-3]");
}

TEST(LoweredGradients, InBucketsOfNoSizeGoTensorByTensor) {
    Scenario job = overlapped(DataParallel::all_reduce);
    job.framework.bucket = round_machine::given(Bytes{});
    EXPECT_EQ(compute(job), "o F0[0-3] B0[3] B0[2] B0[1] B0[0] U =");
    EXPECT_EQ(communication(job), "AR[3] AR[2] AR[1] AR[0]");
}

TEST(LoweredGradients, FillBucketsThatGrowWithTheRanks) {
    // 2 ranks x 2.5 MB = 5 MB: three blocks are 6.3. With 1 MB a rank the smallest bucket, 3 MB, stands.
    Scenario job = overlapped(DataParallel::all_reduce);
    job.framework.bucket = round_machine::given(3 * MB);
    job.framework.bucket_per_rank = round_machine::given(2.5 * MB);
    EXPECT_EQ(communication(job), "AR[1-3]x2 AR[0]");
    job.framework.bucket_per_rank = round_machine::given(1 * MB);
    EXPECT_EQ(communication(job), "AR[2-3]x2 AR[0-1]x2");
}

TEST(LoweredGradients, FillBucketsWithThoseOfContextRanksAndOfExperts) {
    Plan plan;
    plan.dp = 2;
    plan.cp = 3;
    Framework framework;
    framework.bucket = round_machine::given(3 * MB);
    framework.bucket_per_rank = round_machine::given(2 * MB);
    EXPECT_NEAR(*bucket_rule(plan, framework, precision_policy(DataType::fp32)).size / MB, 12, 1e-12);
    // Blocks of 0.4 MB that all ranks have, and 0.8 MB of experts: three fill a bucket of 3 MB.
    const BlockParameters block{.trained = {.dense = 1e5, .expert = 2e5}, .frozen = {}, .tensors = 2};
    const std::vector<BlockParameters> blocks(6, block);
    const std::vector<Bucket> buckets = BucketRule{3 * MB, 4 * B}.buckets(blocks, 0, 6);
    ASSERT_EQ(buckets.size(), 2U);
    EXPECT_EQ(buckets.front().count, 3);
}

TEST(LoweredGradients, AreOfferedBlockByBlockToAThreadThatFusesThemByTime) {
    Scenario job = overlapped(DataParallel::all_reduce);
    job.framework.bucket = round_machine::given(25 * MB);
    job.framework.reduction_cycle = round_machine::given(1 * ms);
    EXPECT_EQ(communication(job), "AR[3] AR[2] AR[1] AR[0]");
}

TEST(LoweredGradients, AccumulateUntilTheLastMicroBatch) {
    Scenario job = overlapped(DataParallel::all_reduce, 2);
    job.framework.bucket = round_machine::given(3 * MB);
    EXPECT_EQ(compute(job), "o F0[0-3] B0[0-3] o F1[0-3] B1[2-3] B1[0-1] U =");
    EXPECT_EQ(communication(job), "AR[2-3]x2 AR[0-1]x2");
    job.plan.schedule = Schedule::gpipe;  // whose last backward is that of the first micro-batch
    EXPECT_EQ(compute(job), "o F0[0-3] o F1[0-3] B1[0-3] B0[2-3] B0[0-1] U =");
}

TEST(LoweredGradients, AreReducedAfterEveryMicroBatchWhereAskedTo) {
    Scenario job = copies(DataParallel::all_reduce, 2);
    job.plan.reduce_every_micro_batch = true;
    EXPECT_EQ(compute(job, false), "o F0 B0 AR[0-3] o F1 B1 AR[0-3] U =");
    job.plan.gradient_overlap = true;
    EXPECT_EQ(compute(job, false), "o F0 B0 o F1 B1 U =");
    EXPECT_EQ(communication(job), "AR[0-3] AR[0-3]");
    // Of a zero-bubble schedule by the pass that makes the gradients of weights.
    job.plan.schedule = Schedule::zero_bubble;
    EXPECT_THAT(waits(job), IsSupersetOf({"0 AR[0-3] after 0 W0[0-3]", "0 AR[0-3] after 0 W1[0-3]"}));
}

TEST(LoweredGradients, GoToTheHostBehindTheirReduction) {
    Scenario job = copies(DataParallel::zero2, 2);
    job.plan.offload = Offload::optimizer;
    EXPECT_EQ(compute(job, false), "o F0 B0 RS[0-3] o F1 B1 RS[0-3] D AG =");
    job.framework.offloaded_gradients = OffloadedGradients::added_on_device;
    EXPECT_EQ(compute(job, false), "o F0 B0 RS[0-3] g o F1 B1 RS[0-3] g D AG =");
    job.plan.gradient_overlap = true;
    EXPECT_EQ(communication(job), "RS[0-3] g RS[0-3] g");
    EXPECT_THAT(waits(job), IsSupersetOf({"0 g after 0 B0[0-3]", "0 g after 0 B1[0-3]", "0 D after 0 g"}));
    // A rank alone has nothing to reduce.
    job.plan.dp = 1;
    job.plan.global_batch = job.plan.micro_batch;
    EXPECT_EQ(compute(job, false), "o F0 B0 D =");
    EXPECT_EQ(communication(job), "g");
}

TEST(LoweredWeights, ComeFromTheHostBeforeTheyAreGathered) {
    Scenario job = overlapped(DataParallel::zero3);
    job.plan.offload = Offload::optimizer_and_parameters;
    job.framework.offloaded_gradients = OffloadedGradients::added_on_host;
    EXPECT_THAT(communication(job), testing::StartsWith("w AG[0] w AG[1] w AG[2]"));
    EXPECT_THAT(communication(job), testing::EndsWith("RS[0] g"));
}

TEST(LoweredGradients, OfEachChunkAreReducedAfterItsOwnLastBackward) {
    Scenario job = copies(DataParallel::all_reduce, 2);
    job.plan.pp = job.plan.vpp = 2;
    job.plan.schedule = Schedule::interleaved;
    job.plan.gradient_overlap = job.plan.pipeline_overlap = true;
    const TaskGraph graph = lower(job, Fold::alike);
    // Stage 0 holds blocks 0 and 2, stage 1 blocks 1 and 3.
    EXPECT_EQ(Words(graph).stream(0, Stream::communication), "AR[2] AR[0]");
    EXPECT_EQ(Words(graph).stream(1, Stream::communication), "AR[3] AR[1]");
    EXPECT_THAT(Words(graph).waits(), IsSupersetOf({"0 AR[2] after 0 B1.1", "0 AR[0] after 0 B1.0", "0 U after 0 AR[0]"}));
}

TEST(LoweredGradients, OfOneCopyGoNowhere) {
    Scenario job = overlapped(DataParallel::all_reduce);
    job.plan.dp = 1;
    job.plan.global_batch = job.plan.micro_batch;
    EXPECT_EQ(compute(job), "o F0[0-3] B0[0-3] U =");
    EXPECT_EQ(communication(job), "");
}

TEST(LoweredGradients, CountAllWeightsOfTheirBlocks) {
    Scenario job = overlapped(DataParallel::all_reduce);
    job.framework.gradients_in_fp32 = true;
    const TaskGraph graph = lower(job, Fold::alike);
    int reductions = 0;
    for (const Work& work : graph.works())
        if (const auto* reduction = std::get_if<CollectiveWork>(&work)) {
            ++reductions;
            EXPECT_EQ(reduction->elements, 4 * weights);
            EXPECT_EQ(reduction->type, DataType::fp32);
            EXPECT_EQ(reduction->group, ParallelGroup::data);
        }
    EXPECT_GT(reductions, 0);
}

// States, gradients and weights that are shared out.

TEST(LoweredZero, OneScattersGradientsAndGathersWeightsAfterTheUpdate) {
    EXPECT_EQ(compute(copies(DataParallel::zero1, 2), false), "o F0 B0 o F1 B1 RS[0-3] U AG =");
}

TEST(LoweredZero, OneGathersBehindTheNextForwardWhereTheFrameworkOverlaps) {
    Scenario job = overlapped(DataParallel::zero1, 2);
    job.framework.bucket = round_machine::given(3 * MB);
    EXPECT_EQ(compute(job), "o F0[0-1] F0[2-3] B0[0-3] o F1[0-3] B1[2-3] B1[0-1] U =");
    EXPECT_EQ(communication(job), "AG[0-1] AG[2-3] RS[2-3]x2 RS[0-1]x2");
    EXPECT_THAT(waits(job), UnorderedElementsAre("0 F0[0-1] after 0 AG[0-1]", "0 F0[2-3] after 0 AG[2-3]", "0 RS[2-3]x2 after 0 B1[2-3]",
                                                 "0 RS[0-1]x2 after 0 B1[0-1]", "0 U after 0 RS[0-1]x2"));
}

TEST(LoweredZero, TwoScattersAfterEveryMicroBatch) {
    EXPECT_EQ(compute(copies(DataParallel::zero2, 2), false), "o F0 B0 RS[0-3] o F1 B1 RS[0-3] U AG =");
}

TEST(LoweredZero, OfAHybridShardSumsItOverTheReplicas) {
    Scenario job = copies(DataParallel::zero1, 1, 4);
    job.plan.shard_group = 2;
    const TaskGraph graph = lower(job, Fold::alike);
    EXPECT_EQ(Words(graph).stream(0), "o F0 B0 RS[0-3] AR[0-3] U AG =");
    for (const Work& work : graph.works()) {
        const auto* w = std::get_if<CollectiveWork>(&work);
        if (w && w->kind == ExchangeKind::all_reduce) {
            EXPECT_EQ(w->group, ParallelGroup::replicas);
            EXPECT_EQ(w->elements, 2 * weights);  // half of the gradients
        }
    }
}

TEST(LoweredZero, ThreeGathersEachBlockForEachPassAndScattersItsGradients) {
    EXPECT_EQ(compute(copies(DataParallel::zero3)),
              "o AG[0] F0[0] AG[1] F0[1] AG[2] F0[2] AG[3] F0[3] "
              "AG[3] B0[3] RS[3] AG[2] B0[2] RS[2] AG[1] B0[1] RS[1] AG[0] B0[0] RS[0] U =");
}

TEST(LoweredZero, ThreeGathersOneBlockAheadAndScattersOneBehind) {
    const Scenario job = overlapped(DataParallel::zero3);  // prefetches one block
    EXPECT_EQ(compute(job), "o F0[0] F0[1] F0[2] F0[3] B0[3] B0[2] B0[1] B0[0] U =");
    EXPECT_EQ(communication(job), "AG[0] AG[1] AG[2] AG[3] AG[3] AG[2] RS[3] AG[1] RS[2] AG[0] RS[1] RS[0]");
    EXPECT_THAT(waits(job), UnorderedElementsAre(
                                // what a pass needs
                                "0 F0[0] after 0 AG[0]", "0 F0[1] after 0 AG[1]", "0 F0[2] after 0 AG[2]", "0 F0[3] after 0 AG[3]",
                                "0 B0[3] after 0 AG[3]", "0 B0[2] after 0 AG[2]", "0 B0[1] after 0 AG[1]", "0 B0[0] after 0 AG[0]",
                                // no gather before the pass two earlier has freed its weights
                                "0 AG[2] after 0 F0[0]", "0 AG[3] after 0 F0[1]", "0 AG[3] after 0 F0[2]", "0 AG[2] after 0 F0[3]",
                                "0 AG[1] after 0 B0[3]", "0 AG[0] after 0 B0[2]",
                                // gradients
                                "0 RS[3] after 0 B0[3]", "0 RS[2] after 0 B0[2]", "0 RS[1] after 0 B0[1]", "0 RS[0] after 0 B0[0]",
                                "0 U after 0 RS[0]"));
}

TEST(LoweredZero, ThreeWaitsForEachScatterWhereThePlanHidesNoGradients) {
    // Weights come as early as where scatters are hidden.
    Scenario job = overlapped(DataParallel::zero3);
    const std::string hidden = communication(job);
    job.plan.gradient_overlap = false;
    EXPECT_EQ(communication(job), hidden);
    EXPECT_THAT(waits(job), IsSupersetOf({"0 B0[2] after 0 RS[3]", "0 B0[1] after 0 RS[2]", "0 B0[0] after 0 RS[1]"}));
    job.plan.gather_overlap = false;  // all in one stream
    EXPECT_EQ(communication(job), "");
}

TEST(LoweredZero, ThreeGathersFurtherAheadWhereTheFrameworkDoes) {
    Scenario job = overlapped(DataParallel::zero3);
    job.framework.prefetch_blocks = 2;
    EXPECT_EQ(communication(job), "AG[0] AG[1] AG[2] AG[3] AG[3] AG[2] AG[1] RS[3] AG[0] RS[2] RS[1] RS[0]");
    EXPECT_THAT(waits(job), IsSupersetOf({"0 AG[3] after 0 F0[0]", "0 AG[0] after 0 B0[3]"}));
}

TEST(LoweredZero, ThreeKeepsWhatForwardGatheredWhereTheFrameworkDoes) {
    Scenario job = copies(DataParallel::zero3);
    job.framework.reshards_after_forward = false;
    EXPECT_EQ(compute(job), "o AG[0] F0[0] AG[1] F0[1] AG[2] F0[2] AG[3] F0[3] B0[3] RS[3] B0[2] RS[2] B0[1] RS[1] B0[0] RS[0] U =");
}

TEST(LoweredZero, ThreeScattersAfterEveryMicroBatchUnlessToldToAccumulate) {
    Scenario job = copies(DataParallel::zero3, 2);
    const auto scatters = [&] {
        const std::string text = compute(job);
        std::size_t n = 0;
        for (auto at = text.find("RS"); at != std::string::npos; at = text.find("RS", at + 1)) ++n;
        return n;
    };
    EXPECT_EQ(scatters(), 8u);
    job.plan.reduce_every_micro_batch = false;
    EXPECT_EQ(scatters(), 4u);
}

TEST(LoweredZero, TwoScattersAfterEveryMicroBatchUnlessToldToAccumulate) {
    Scenario job = copies(DataParallel::zero2, 2);
    EXPECT_EQ(compute(job, false), "o F0 B0 RS[0-3] o F1 B1 RS[0-3] U AG =");
    job.plan.reduce_every_micro_batch = false;
    EXPECT_EQ(compute(job, false), "o F0 B0 o F1 B1 RS[0-3] U AG =");
}

TEST(LoweredZero, ThreeGathersForForwardAlone) {
    Scenario job = copies(DataParallel::zero3);
    job.plan.forward_only = true;
    EXPECT_EQ(compute(job), "o AG[0] F0[0] AG[1] F0[1] AG[2] F0[2] AG[3] F0[3] =");
}

// Parameter servers.

TEST(LoweredServers, AddUpAllGradientsAndUpdateOnce) {
    // One rank of the graph for both workers, one for the server. Each block's gradients go alone.
    const Scenario job = copies(DataParallel::parameter_server);
    const TaskGraph graph = lower(job, Fold::alike);
    const Words words(graph);
    EXPECT_EQ(words.stream(0), "o F0 B0 push0 push0 push0 push0 pull0 =");
    EXPECT_EQ(words.stream(1, Stream::server), "S S S S U");
    EXPECT_THAT(words.waits(),
                UnorderedElementsAre("1 S after 0 push0", "1 S after 0 push0", "1 S after 0 push0", "1 S after 0 push0",  //
                                     "1 U after 1 S", "1 U after 1 S", "1 U after 1 S", "1 U after 1 S", "0 pull0 after 1 U"));
    for (const Segment& segment : graph.segments())
        if (const auto* serve = std::get_if<ServeWork>(&graph.works()[segment.work])) {
            EXPECT_EQ(serve->elements, (serve->update ? 4 : 2) * weights);  // of both workers; of all weights
        }
}

TEST(LoweredServers, GetGradientsBehindBackwardWhereTheFrameworkOverlaps) {
    const Scenario job = overlapped(DataParallel::parameter_server);
    const TaskGraph graph = lower(job, Fold::alike);
    const Words words(graph, true);
    EXPECT_EQ(words.stream(0), "o F0[0-3] B0[3] B0[2] B0[1] B0[0] pull0 =");
    EXPECT_EQ(words.stream(0, Stream::communication), "push0 push0 push0 push0");
    EXPECT_THAT(words.waits(), IsSupersetOf({"0 push0 after 0 B0[3]", "0 push0 after 0 B0[0]", "0 pull0 after 0 push0"}));
}

TEST(LoweredServers, ShareTheParametersAndAreReachedTogether) {
    Scenario job = copies(DataParallel::parameter_server);
    job.plan.parameter_servers = 4;
    job.cluster.nodes = 5;
    const TaskGraph graph = lower(job, Fold::alike);
    EXPECT_EQ(graph.ranks()[1].multiplicity, 4);
    const auto way = std::ranges::find_if(graph.communicators(), &Communicator::with_server);
    ASSERT_NE(way, graph.communicators().end());
    EXPECT_THAT(way->sets, ElementsAre(ElementsAre(0, 0), ElementsAre(0, 1), ElementsAre(0, 2), ElementsAre(0, 3),  //
                                       ElementsAre(1, 0), ElementsAre(1, 1), ElementsAre(1, 2), ElementsAre(1, 3)));
    for (const Work& work : graph.works())
        if (const auto* transfer = std::get_if<TransferWork>(&work)) {
            EXPECT_EQ(transfer->elements, (transfer->payload == Payload::gradients ? 0.25 : 1) * weights);
        }
}

TEST(LoweredServers, HandOutThoseWeightsThatAreStored) {
    Scenario job = copies(DataParallel::parameter_server);
    job.plan.pruned_fraction = 0.75;
    const TaskGraph graph = lower(job, Fold::alike);
    int transfers = 0, updates = 0;
    for (const Work& work : graph.works()) {
        if (const auto* transfer = std::get_if<TransferWork>(&work)) {
            ++transfers;
            EXPECT_EQ(transfer->elements, (transfer->payload == Payload::gradients ? 1 : 0.25 * 4) * weights);
        }
        if (const auto* serve = std::get_if<ServeWork>(&work); serve && serve->update) {
            ++updates;
            EXPECT_EQ(serve->elements, 4 * weights);  // with whole gradients
        }
    }
    EXPECT_GT(transfers, 0);
    EXPECT_GT(updates, 0);
}

TEST(LoweredServers, OfAsynchronousWorkersAnswerEachAlone) {
    // Eight steps; without overlap the gradients of each step are pushed once, whatever came before.
    const Scenario job = copies(DataParallel::async_parameter_server);
    ASSERT_EQ(possible_fold(job), Fold::nothing);
    const TaskGraph graph = lower(job, Fold::nothing);
    EXPECT_EQ(graph.steps(), 8);
    const Words words(graph);
    std::string steps;
    for (int step = 0; step < 8; ++step) {
        const std::string n = std::to_string(step);
        steps += step > 0 ? " o" : "o";
        for (const char* word : {"F", "B", "push", "push", "push", "push", "pull"}) steps.append(" ").append(word).append(n);
        steps += " =";
    }
    EXPECT_EQ(words.stream(0), steps);
    EXPECT_EQ(words.stream(1), steps);
    // Every pull waits for the four updates with the same worker's gradients of the same step, and for nobody else.
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
        if (!words.word(s).starts_with("pull")) continue;
        ASSERT_EQ(graph.waits_for(s).size(), 4u);
        for (const SegmentIndex update : graph.waits_for(s)) {
            ASSERT_EQ(words.word(update), "U");
            for (const SegmentIndex push : graph.waits_for(update)) {
                EXPECT_EQ(graph.segments()[push].rank, graph.segments()[s].rank);
                EXPECT_EQ(graph.segments()[push].micro_batch, graph.segments()[s].micro_batch);
            }
        }
    }
}

}  // namespace
}  // namespace sextant
