#include "tests/predict/data_parallel_state.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace sextant {
namespace {

using namespace units;

TEST(DataParallel, WithoutOverlapIsOneAllReduceAfterBackward) {
    // 10 us + 6 us + 2 x 3/4 x 2 GB / (100 GB/s)
    const PriceMs p = price_ms(replicated(), 50 * ms, 100 * ms);
    EXPECT_NEAR(p.exposed, 30.016, 1e-9);
    EXPECT_NEAR(p.hidden, 0, 1e-9);
}

TEST(DataParallel, OfZero1ScattersGradientsOrSumsThemWholeAsTheFrameworkDoes) {
    Prepared::State job = replicated(DataParallel::zero1);
    const double scattered = price_ms(job, {}, 100 * ms).exposed;
    job.scenario.framework.reduces_whole_gradients = true;
    // Half an all-reduce more, and what its second half takes to start.
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed - scattered, 15.003, 1e-6);
    job.scenario.plan.data_parallel = DataParallel::zero3;  // shards of weights are another matter
    const double sharded = price_ms(job, {}, 100 * ms).exposed;
    job.scenario.framework.reduces_whole_gradients = false;
    EXPECT_EQ(price_ms(job, {}, 100 * ms).exposed, sharded);
}

TEST(DataParallel, OfWholeGradientsIsASumOverAllRanksHoweverFewShareStates) {
    // 10 us + 6 us + 30 ms over four; two ranks gather what they updated: 10 us + 1 us + 1/2 x 2 GB / (100 GB/s).
    Prepared::State job = replicated(DataParallel::zero1);
    job.scenario.framework.reduces_whole_gradients = true;
    job.scenario.plan.shard_group = 2;
    job.groups.kinds.front()[ParallelGroup::shard].ranks = 2;
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed, 30.016 + 10.011, 1e-6);
}

TEST(DataParallel, OfOwnersThatBroadcastIsACallForEach) {
    // Ten tensors of 0.2 GB over four ranks: each takes 10 us + 3 us to start.
    Prepared::State job = replicated(DataParallel::zero1);
    const double gathered = price_ms(job, {}, 100 * ms).exposed;
    job.scenario.framework.broadcasts_parameters = true;
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed - gathered, 3 * 0.013, 1e-6);
    // Of a single tensor there is one owner.
    job.templates[0].trained_tensors = 0;
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed, gathered, 1e-9);
}

// 1e6 elements of two bytes over a link of 10 GB/s: an all-reduce of two moves them once each way.
TEST(DataParallel, EndsOfAPipelineAddTheGradientsOfAMatrixThatTheyShare) {
    Prepared::State job = ten_layers(3);
    job.groups.boundaries.assign(3, Group{});
    Group& around = job.groups.boundaries.back();
    around.ranks = 2;
    around.ring = around.all_to_all = 10 * GB / s;
    BlockKernels owner, user;
    owner.trained.shared[SharedMatrix::embedding].owned = user.trained.shared[SharedMatrix::embedding].tied = 1e6;
    job.templates.push_back(owner);
    job.templates.push_back(user);
    for (StageBlocks& stage : job.stages) stage.count = {10, 0, 0};
    const auto waits = [&](std::size_t stage) { return tied_sum_time(job, update_time(job, stage, {}), {}) / us; };
    job.stages[0].count[1] = 1;
    EXPECT_EQ(waits(0), 0);  // nobody else has it
    job.stages[2].count[2] = 1;
    EXPECT_NEAR(waits(0), 200, 20);  // and what it takes to begin
    EXPECT_EQ(waits(1), 0);
    EXPECT_EQ(waits(2), waits(0));
    // Of a shard of four there is a quarter.
    const double whole = waits(0);
    job.scenario.plan.dp = 4;
    EXPECT_EQ(waits(0), whole);
    job.scenario.plan.data_parallel = DataParallel::zero3;
    EXPECT_NEAR(whole - waits(0), 150, 1e-9);
}

TEST(DataParallel, InBucketsHidesBehindBackwardAllButTheLastBucket) {
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(0.4 * GB);
    // Two blocks fill a bucket: five of 16 us + 6 ms. Backward of 100 ms hides four; the last is ready when backward ends.
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed, 6.016, 1e-9);
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).hidden, 4 * 6.016, 1e-9);
    // Backward of 20 ms makes the first after 4 ms: 30.08 ms from then on, of which 16 ms are hidden.
    EXPECT_NEAR(price_ms(job, {}, 20 * ms).exposed, 14.08, 1e-9);
}

TEST(DataParallel, MakesBucketsOfWholeBlocksAndTakesAsManyCallsAsTheyFill) {
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(0.5 * GB);
    // Three blocks, 0.6 GB, fill one: two calls of 0.3 GB each, 2 x (16 us + 4.5 ms). The last bucket is the tenth block, 0.2 GB.
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed, 3.016, 1e-9);
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).hidden, 3 * 9.032, 1e-9);
}

TEST(DataParallel, WithOneBucketForAllHidesNothing) {
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed, 30.016, 1e-9);
}

TEST(DataParallel, WithBucketsOfNoSizeReducesEachTensorAlone) {
    Prepared::State job = replicated();
    job.scenario.framework.bucket = round_machine::given(Bytes{});
    // Ten tensors of 0.2 GB: 10 x (16 us + 3 ms)
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 30.16, 1e-9);
}

TEST(DataParallel, GrowsItsBucketsWithTheRanksWhereTheFrameworkDoes) {
    Prepared::State job = replicated();
    job.scenario.framework.bucket = round_machine::given(0.1 * GB);
    job.scenario.framework.bucket_per_rank = round_machine::given(0.25 * GB);
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 2 * (0.016 + 15), 1e-9);  // 4 ranks x 0.25 GB: two buckets of 1 GB
}

TEST(DataParallel, HasNothingToWaitForWhenABackgroundThreadFindsAllGradientsReady) {
    Prepared::State job = replicated();
    job.scenario.framework.reduction_cycle = round_machine::given(5 * ms);
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).exposed, 30.016, 1e-9);
}

TEST(DataParallel, FusesWhatIsReadyWhenABackgroundThreadWakes) {
    // A block every 11 ms, the first at 11 ms; a cycle of 20 ms. At 20 ms there is one: 16 us + 3 ms. At 40, 60, 80 and 100 ms there are
    // two: 16 us + 6 ms. The last, of 110 ms, waits for 120 ms and ends at 123.016 ms. All of it takes 30.096 ms.
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(1 * GB);
    job.scenario.framework.reduction_cycle = round_machine::given(20 * ms);
    EXPECT_NEAR(price_ms(job, {}, 110 * ms).exposed, 13.016, 1e-9);
    EXPECT_NEAR(price_ms(job, {}, 110 * ms).hidden, 30.096 - 3.016, 1e-9);
    // Two do not fit into 0.3 GB: one in each cycle, the tenth at 200 ms.
    job.scenario.framework.bucket = round_machine::given(0.3 * GB);
    EXPECT_NEAR(price_ms(job, {}, 110 * ms).exposed, 93.016, 1e-9);
}

TEST(DataParallel, OfABackgroundThreadAfterManyMicroBatchesIsThatOfTheLastAlone) {
    // As above: the last of them begins at a multiple of 220 ms, which eleven cycles take.
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(1 * GB);
    job.scenario.framework.reduction_cycle = round_machine::given(20 * ms);
    job.micro_batches = 100'000'001;
    const std::clock_t start = std::clock();
    EXPECT_NEAR(price_ms(job, {}, 110 * ms).exposed, 13.016, 1e-3);
    EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);  // minutes, where each is played
}

TEST(DataParallel, OfABackgroundThreadGoesOnWhenALongExchangeHasEnded) {
    // A cycle of 2 ms. At 12 ms it takes the block of 11, until 15.016, and looks every 2 ms from there on: at 23.016 it takes that of 22,
    // and each later one 11.016 ms after the one before. The tenth is taken at 111.144 and ends at 114.16.
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(1 * GB);
    job.scenario.framework.reduction_cycle = round_machine::given(2 * ms);
    EXPECT_NEAR(price_ms(job, {}, 110 * ms).exposed, 4.16, 1e-9);
    // A block every millisecond: two at 2 ms until 8.016, five until 23.032, the last three until 32.048.
    EXPECT_NEAR(price_ms(job, {}, 10 * ms).exposed, 22.048, 1e-9);
}

TEST(DataParallel, SendsGradientsAsTheFrameworkKeepsThemUnlessThePlanSaysOtherwise) {
    // 1024 x 1024 weights and 1024 biases, over two ranks at 100 GB/s: 2 bytes each pass on in 20.992 us, 4 bytes in 41.984 us.
    Scenario job = products_job(1, 2);
    job.cluster.node.peers.link.bandwidth = round_machine::given(100 * GB / s);
    job.plan.dp = 2;
    const auto reduction_us = [&job] { return estimate(prepare(job)).terms[Term::data_communication] / us; };
    EXPECT_NEAR(reduction_us(), 20.992, 1e-9);
    job.framework.gradients_in_fp32 = true;
    EXPECT_NEAR(reduction_us(), 41.984, 1e-9);
    job.plan.precision.reduction = DataType::bf16;
    EXPECT_NEAR(reduction_us(), 20.992, 1e-9);
}

TEST(DataParallel, ReducesOnceAStepUnlessAskedToAfterEachMicroBatch) {
    Prepared::State job = replicated();
    job.micro_batches = 4;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 30.016, 1e-9);
    job.scenario.plan.reduce_every_micro_batch = true;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 4 * 30.016, 1e-9);
}

TEST(DataParallel, SlowsTheKernelsBesideIt) {
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(0.4 * GB);
    job.scenario.framework.overlap_slowdown = round_machine::given(1.1);
    // While four buckets of 6.016 ms are reduced, backward advances 1 / 1.1 as fast.
    EXPECT_NEAR(price_ms(job, {}, 100 * ms).slowdown, 4 * 6.016 * (1 - 1 / 1.1), 1e-9);
}

TEST(DataParallel, OfZero1ScattersGradientsAndGathersWeights) {
    Prepared::State job = replicated(DataParallel::zero1);
    // Each 10 us + 3 us + 3/4 x 2 GB / (100 GB/s) = 15.013 ms: together an all-reduce with one more call.
    EXPECT_NEAR(price_ms(job, 10 * ms, {}).exposed, 30.026, 1e-9);
    // Weights that arrive block by block, ten times 1.513 ms, behind the next forward: its last block, 1 ms, waits for all of them.
    job.scenario.plan.gather_overlap = true;
    EXPECT_NEAR(price_ms(job, 10 * ms, {}).exposed, 15.013 + 15.13 + 1 - 10, 1e-9);
}

TEST(DataParallel, OfZero2ScattersAfterEachMicroBatch) {
    Prepared::State job = replicated(DataParallel::zero2);
    job.micro_batches = 4;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 5 * 15.013, 1e-9);  // four scatters, one gather
}

TEST(DataParallel, OfHybridShardingSumsTheShardOverTheReplicas) {
    Prepared::State job = replicated(DataParallel::zero1);
    job.scenario.plan.dp = 8;
    job.scenario.plan.shard_group = 4;
    job.groups.kinds.front()[ParallelGroup::replicas] = four_ranks();
    job.groups.kinds.front()[ParallelGroup::replicas].ranks = 2;
    // 30.026 ms as above; a quarter of the gradients, 0.5 GB, over two replicas: 10 us + 2 us + 0.5 GB / (100 GB/s)
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 30.026 + 5.012, 1e-9);
}

TEST(DataParallel, OfZero3GathersEachBlockTwiceAndScattersItOnce) {
    // A block is 0.2 GB: 10 us + 3 us + 1.5 ms for either. Ten blocks, three times: 45.39 ms a micro-batch.
    Prepared::State job = replicated(DataParallel::zero3);
    EXPECT_NEAR(price_ms(job, 100 * ms, 200 * ms).exposed, 45.39, 1e-9);
    job.micro_batches = 2;
    EXPECT_NEAR(price_ms(job, 100 * ms, 200 * ms).exposed, 2 * 45.39, 1e-9);
    job.micro_batches = 1;
    job.scenario.framework.reshards_after_forward = false;  // backward finds the weights in place
    EXPECT_NEAR(price_ms(job, 100 * ms, 200 * ms).exposed, 30.26, 1e-9);
}

TEST(DataParallel, OfZero3GathersFrozenWeightsTooAndScattersNothingOfThem) {
    // Of a block 0.6 GB of weights are gathered, 10 us + 3 us + 4.5 ms, and 0.2 GB of gradients scattered: 1.513 ms.
    Prepared::State job = replicated(DataParallel::zero3);
    job.templates[0].frozen.dense = 200e6;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 10 * (2 * 4.513 + 1.513), 1e-9);
    // Replicated they are not exchanged at all.
    job = replicated(DataParallel::all_reduce);
    const double all = price_ms(job, {}, {}).exposed;
    job.templates[0].frozen.dense = 200e6;
    EXPECT_EQ(price_ms(job, {}, {}).exposed, all);
}

TEST(DataParallel, OfZero3GathersExpertsOverTheirOwnCopies) {
    // Beside its 0.1e9 dense parameters a block has 0.3e9 of experts, which two ranks hold: 10 us + 1 us + 1/2 x 0.6 GB / (100 GB/s).
    Prepared::State job = replicated(DataParallel::zero3);
    job.templates[0].trained.expert = 300e6;
    job.groups.kinds.front()[ParallelGroup::expert_data] = four_ranks();
    job.groups.kinds.front()[ParallelGroup::expert_data].ranks = 2;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 3 * 10 * (1.513 + 3.011), 1e-9);
}

TEST(DataParallel, OfZero3HidesAllButTheFirstGatherAndTheLastScatter) {
    Prepared::State job = replicated(DataParallel::zero3);
    job.scenario.plan.gather_overlap = true;
    const PriceMs p = price_ms(job, 100 * ms, 200 * ms);
    EXPECT_NEAR(p.exposed, 2 * 1.513, 1e-9);
    EXPECT_NEAR(p.hidden, 45.39 - 2 * 1.513, 1e-9);
    // Forward of 10 ms, 1 ms a block, waits for the tenth gather, 15.13 ms. Two more, and the last block's backward starts at 16.643 ms and
    // ends at 18.643 ms. From there on a scatter and a gather go between two starts: the third starts at 18.643 + 3.026 ms, the tenth seven
    // times 3.026 ms later, 2 ms long, and its scatter ends 1.513 ms later.
    EXPECT_NEAR(price_ms(job, 10 * ms, 20 * ms).exposed, 18.643 + 8 * 3.026 + 2 + 1.513 - 30, 1e-9);
}

TEST(DataParallel, OfZero3HidesGathersAloneWhereThePlanHidesNoGradients) {
    Prepared::State job = replicated(DataParallel::zero3);
    job.scenario.plan.gather_overlap = true;
    job.scenario.plan.gradient_overlap = false;
    const PriceMs p = price_ms(job, 100 * ms, 200 * ms);
    EXPECT_NEAR(p.exposed, 11 * 1.513, 1e-9);  // the first gather and ten scatters
    EXPECT_NEAR(p.hidden, 45.39 - 11 * 1.513, 1e-9);
}

TEST(DataParallel, CostsNothingOnOneRankOrForwardAlone) {
    Prepared::State alone = ten_layers();
    EXPECT_EQ(price_ms(alone, {}, {}).exposed, 0);
    Prepared::State inference = replicated();
    inference.scenario.plan.forward_only = true;
    EXPECT_EQ(price_ms(inference, {}, {}).exposed, 0);
}

}  // namespace
}  // namespace sextant
