#include "tests/predict/hand_made_state.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

Group four_ranks() {
    Group g;
    g.ranks = 4;
    g.ring = g.all_to_all = 100 * GB / s;
    return g;
}

// 1e9 parameters in BF16 over four ranks of one node: 2 GB of gradients, 2 GB of weights.
Prepared::State replicated(DataParallel how = DataParallel::all_reduce) {
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 4;
    job.scenario.plan.data_parallel = how;
    job.groups.data = job.groups.shard = four_ranks();
    return job;
}

struct PriceMs {
    double exposed, hidden, slowdown, offload;
};
PriceMs price(const Prepared::State& job, Seconds forward, Seconds backward) {
    const DataParallelPrice p = price_data_parallel(job, 0, forward, backward, {});
    return {p.exposed / ms, p.hidden / ms, p.slowdown / ms, p.offload / ms};
}

TEST(DataParallel, WithoutOverlapIsOneAllReduceAfterBackward) {
    // 10 us + 6 us + 2 x 3/4 x 2 GB / (100 GB/s)
    const PriceMs p = price(replicated(), 50 * ms, 100 * ms);
    EXPECT_NEAR(p.exposed, 30.016, 1e-9);
    EXPECT_EQ(p.hidden, 0);
}

TEST(DataParallel, InBucketsHidesBehindBackwardAllButTheLastBucket) {
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(0.5 * GB);
    // Four buckets of 16 us + 7.5 ms: 30.064 ms. Backward of 100 ms hides three; the last is ready when backward ends.
    EXPECT_NEAR(price(job, {}, 100 * ms).exposed, 7.516, 1e-9);
    EXPECT_NEAR(price(job, {}, 100 * ms).hidden, 22.548, 1e-9);
    // Backward of 20 ms hides 20 ms.
    EXPECT_NEAR(price(job, {}, 20 * ms).exposed, 10.064, 1e-9);
}

TEST(DataParallel, WithOneBucketForAllHidesNothing) {
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    EXPECT_NEAR(price(job, {}, 100 * ms).exposed, 30.016, 1e-9);
}

TEST(DataParallel, WithBucketsOfNoSizeReducesEachTensorAlone) {
    Prepared::State job = replicated();
    job.scenario.framework.bucket = round_machine::given(Bytes{});
    // Ten tensors of 0.2 GB: 10 x (16 us + 3 ms)
    EXPECT_NEAR(price(job, {}, {}).exposed, 30.16, 1e-9);
}

TEST(DataParallel, GrowsItsBucketsWithTheRanksWhereTheFrameworkDoes) {
    Prepared::State job = replicated();
    job.scenario.framework.bucket = round_machine::given(0.1 * GB);
    job.scenario.framework.bucket_per_rank = round_machine::given(0.25 * GB);
    EXPECT_NEAR(price(job, {}, {}).exposed, 2 * (0.016 + 15), 1e-9);  // 4 ranks x 0.25 GB: two buckets of 1 GB
}

TEST(DataParallel, WaitsHalfACycleOfABackgroundThread) {
    Prepared::State job = replicated();
    job.groups.expert_data = four_ranks();  // without experts there is nothing to wait for
    job.scenario.framework.reduction_cycle = round_machine::given(5 * ms);
    EXPECT_NEAR(price(job, {}, {}).exposed, 30.016 + 2.5, 1e-9);
}

TEST(DataParallel, ReducesOncePerCycleOrAsOftenAsReductionsLast) {
    // 2 GB of 40 tensors and 100 ms of backward. A cycle of 5 ms: twenty reductions of 0.1 GB, 16 us + 1.5 ms each, fit into theirs;
    // the last shows, after half a cycle. The rest of 30.32 + 2.5 ms is hidden.
    Prepared::State job = replicated();
    job.templates[0].parameter_tensors = 4;
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.reduction_cycle = round_machine::given(5 * ms);
    EXPECT_NEAR(price(job, {}, 100 * ms).exposed, 1.516 + 2.5, 1e-9);
    EXPECT_NEAR(price(job, {}, 100 * ms).hidden, 30.32 - 1.516, 1e-9);
    // A tenth of the bandwidth and a cycle of 1 ms: one of forty, each a tensor, takes 16 us + 7.5 ms, so that backward leaves time for
    // 100 / 7.516, rounded up 14. All of them: 14 x 16 us + 300 ms + 0.5 ms, of which backward hides 100 ms.
    job.groups.data.ring = 10 * GB / s;
    job.scenario.framework.reduction_cycle = round_machine::given(1 * ms);
    EXPECT_NEAR(price(job, {}, 100 * ms).exposed, 300.724 - 100, 1e-9);
}

TEST(DataParallel, SendsGradientsAsTheFrameworkKeepsThemUnlessThePlanSaysOtherwise) {
    // 1024 x 1024 weights and 1024 biases, over two ranks at 100 GB/s: 2 bytes each pass on in 20.992 us, 4 bytes in 41.984 us.
    Scenario job = mlp_job(1);
    round_machine::only_arithmetic_counts(job);
    job.cluster.node.peers.link.bandwidth = round_machine::given(100 * GB / s);
    job.plan.dp = 2;
    job.plan.global_batch = 2048;
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
    EXPECT_NEAR(price(job, {}, {}).exposed, 30.016, 1e-9);
    job.scenario.plan.reduce_every_micro_batch = true;
    EXPECT_NEAR(price(job, {}, {}).exposed, 4 * 30.016, 1e-9);
}

TEST(DataParallel, SlowsTheKernelsBesideIt) {
    Prepared::State job = replicated();
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(0.5 * GB);
    job.scenario.framework.overlap_slowdown = round_machine::given(1.1);
    EXPECT_NEAR(price(job, {}, 100 * ms).slowdown, 0.1 * 22.548, 1e-9);  // a tenth of what is hidden
}

TEST(DataParallel, OfZero1ScattersGradientsAndGathersWeights) {
    Prepared::State job = replicated(DataParallel::zero1);
    // Each 10 us + 3 us + 3/4 x 2 GB / (100 GB/s) = 15.013 ms: together an all-reduce with one more call.
    EXPECT_NEAR(price(job, 10 * ms, {}).exposed, 30.026, 1e-9);
    job.scenario.plan.gather_overlap = true;  // the next forward hides 10 ms of the gather
    EXPECT_NEAR(price(job, 10 * ms, {}).exposed, 20.026, 1e-9);
}

TEST(DataParallel, OfZero2ScattersAfterEachMicroBatch) {
    Prepared::State job = replicated(DataParallel::zero2);
    job.micro_batches = 4;
    EXPECT_NEAR(price(job, {}, {}).exposed, 5 * 15.013, 1e-9);  // four scatters, one gather
}

TEST(DataParallel, OfHybridShardingSumsTheShardOverTheReplicas) {
    Prepared::State job = replicated(DataParallel::zero1);
    job.scenario.plan.dp = 8;
    job.scenario.plan.shard_group = 4;
    job.groups.replicas = four_ranks();
    job.groups.replicas.ranks = 2;
    // 30.026 ms as above; a quarter of the gradients, 0.5 GB, over two replicas: 10 us + 2 us + 0.5 GB / (100 GB/s)
    EXPECT_NEAR(price(job, {}, {}).exposed, 30.026 + 5.012, 1e-9);
}

TEST(DataParallel, OfZero3GathersEachBlockTwiceAndScattersItOnce) {
    // A block is 0.2 GB: 10 us + 3 us + 1.5 ms for either. Ten blocks, three times: 45.39 ms a micro-batch.
    Prepared::State job = replicated(DataParallel::zero3);
    EXPECT_NEAR(price(job, 100 * ms, 200 * ms).exposed, 45.39, 1e-9);
    job.micro_batches = 2;
    EXPECT_NEAR(price(job, 100 * ms, 200 * ms).exposed, 2 * 45.39, 1e-9);
    job.micro_batches = 1;
    job.scenario.framework.reshards_after_forward = false;  // backward finds the weights in place
    EXPECT_NEAR(price(job, 100 * ms, 200 * ms).exposed, 30.26, 1e-9);
}

TEST(DataParallel, OfZero3GathersExpertsOverTheirOwnCopies) {
    // Beside its 0.1e9 dense parameters a block has 0.3e9 of experts, which two ranks hold: 10 us + 1 us + 1/2 x 0.6 GB / (100 GB/s).
    Prepared::State job = replicated(DataParallel::zero3);
    job.templates[0].expert_parameters = 300e6;
    job.groups.expert_data = four_ranks();
    job.groups.expert_data.ranks = 2;
    EXPECT_NEAR(price(job, {}, {}).exposed, 3 * 10 * (1.513 + 3.011), 1e-9);
}

TEST(DataParallel, OfZero3HidesAllButTheFirstGatherAndTheLastScatter) {
    Prepared::State job = replicated(DataParallel::zero3);
    job.scenario.plan.gather_overlap = true;
    const PriceMs p = price(job, 100 * ms, 200 * ms);
    EXPECT_NEAR(p.exposed, 2 * 1.513, 1e-9);
    EXPECT_NEAR(p.hidden, 45.39 - 2 * 1.513, 1e-9);
    // Forward of 10 ms hides 10 of the 15.13 ms; backward of 20 ms hides 20 of 30.26.
    EXPECT_NEAR(price(job, 10 * ms, 20 * ms).exposed, 5.13 + 10.26, 1e-9);
}

TEST(DataParallel, OfAParameterServerInOneNodeCopiesToTheHostAndBack) {
    // 2 GB down and up at 20 GB/s: 200 ms. The host reads four gradients and a sum and writes it: 6 x 2 GB at 200 GB/s: 60 ms.
    Prepared::State job = replicated(DataParallel::parameter_server);
    job.scenario.plan.servers_on_workers = true;
    EXPECT_NEAR(price(job, {}, {}).exposed, 260, 1e-9);
}

TEST(DataParallel, OfAParameterServerOnAnotherHostLoadsItsOneLink) {
    // The server's link carries four gradients in and four copies of the weights out: 2 x 4 x 2 GB at 10 GB/s, and the 260 ms inside.
    EXPECT_NEAR(price(replicated(DataParallel::parameter_server), {}, {}).exposed, 1'860, 1e-9);
}

TEST(DataParallel, OfParameterServersOnTheWorkersLoadsTheirLinks) {
    // Eight workers on two nodes, a server on each: every server's link carries 8 / 2 gradients in and as many weights out,
    // 2 x 4 x 2 GB at 10 GB/s: 1.6 s, and the 260 ms inside.
    Prepared::State job = replicated(DataParallel::parameter_server);
    job.scenario.plan.dp = 8;
    job.scenario.plan.servers_on_workers = true;
    job.nodes = 2;
    EXPECT_NEAR(price(job, {}, {}).exposed, 1'860, 1e-9);
}

TEST(DataParallel, OfAnOffloadedOptimizerCopiesTheOwnedPartAndUpdatesItInHostMemory) {
    // Each of four ranks owns 0.25e9 parameters. Gradients down and weights up, 4 bytes, at 20 GB/s: 50 ms.
    // The node's four parts, 28 bytes a parameter, at 200 GB/s: 140 ms.
    Prepared::State job = replicated(DataParallel::zero2);
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_NEAR(price(job, {}, {}).offload, 190, 1e-9);
    // Weights too: two more copies of 2 bytes a parameter for each micro-batch, 25 ms each.
    job.scenario.plan.offload = Offload::optimizer_and_parameters;
    EXPECT_NEAR(price(job, {}, {}).offload, 240, 1e-9);
}

TEST(DataParallel, OfAnOffloadedOptimizerOwnsEverythingWhereThePlanShardsNothing) {
    // Each of four ranks holds all 1e9 parameters: 4 GB at 20 GB/s, and 4 x 28 GB at 200 GB/s. 200 + 560 ms.
    Prepared::State job = replicated();
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_NEAR(price(job, {}, {}).offload, 760, 1e-9);
}

TEST(DataParallel, CostsNothingOnOneRankOrForwardAlone) {
    Prepared::State alone = ten_layers();
    EXPECT_EQ(price(alone, {}, {}).exposed, 0);
    Prepared::State inference = replicated();
    inference.scenario.plan.forward_only = true;
    EXPECT_EQ(price(inference, {}, {}).exposed, 0);
}

}  // namespace
}  // namespace sextant
