#include "tests/predict/hand_made_state.hpp"

#include "model/predict/update.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// 1e9 parameters, mixed-precision Adam in BF16, four launches of 1 us beside the bytes.
double update_ms(const Prepared::State& job) { return (update_time(job, 0, {}).device - 4 * us) / ms; }

TEST(OptimizerTime, OfFusedMixedPrecisionAdamIsTwentyEightBytesAParameter) {
    // Gradient 2; two FP32 states in and out 16; master weight in and out 8; weight out 2: 28 GB at 1 TB/s.
    EXPECT_NEAR(update_ms(ten_layers()), 28, 1e-9);
}

TEST(OptimizerTime, OfFp32SgdReadsGradientAndWeightAndWritesTheWeight) {
    Prepared::State job = ten_layers();
    job.precision = precision_policy(DataType::fp32);
    job.scenario.plan.optimizer = Optimizer::sgd;
    EXPECT_NEAR(update_ms(job), 12, 1e-9);
}

TEST(OptimizerTime, WritesZerosWhereTheFirstMicroBatchAddsToThem) {
    Prepared::State job = ten_layers();
    job.scenario.framework.accumulates_from_first = true;
    EXPECT_NEAR(update_ms(job), 28 + 2, 1e-9);
}

TEST(OptimizerTime, IsDividedOverTheRanksThatShareTheStates) {
    Prepared::State job = ten_layers();
    job.scenario.plan.dp = 4;
    EXPECT_NEAR(update_ms(job), 28, 1e-9);
    job.scenario.plan.data_parallel = DataParallel::zero1;
    EXPECT_NEAR(update_ms(job), 7, 1e-9);
}

TEST(OptimizerTime, WithNormsReadsTheGradientsOnceMoreForEach) {
    Prepared::State job = ten_layers();
    job.scenario.framework.clips_gradients = true;
    EXPECT_NEAR(update_ms(job), 28 + 2, 1e-9);
    job.scenario.plan.optimizer = Optimizer::lamb;  // and the norms of weights and update
    EXPECT_NEAR(update_ms(job), 28 + 6, 1e-9);
}

TEST(OptimizerTime, WithoutFusionIsSevenPassesInTheTypeOfTheStates) {
    // Adam: p, g, m, v in; p, m, v out; 4 bytes each.
    Prepared::State job = ten_layers();
    job.scenario.framework.fused_optimizer = false;
    EXPECT_NEAR(update_ms(job), 28, 1e-9);
    job.scenario.plan.optimizer = Optimizer::momentum;  // p, g, m in; p, m out
    EXPECT_NEAR(update_ms(job), 20, 1e-9);
}

TEST(OptimizerTime, KernelByKernelIsTwoAndAHalfPassesForEach) {
    // 15 kernels for a tensor, each over 4 bytes of 1e9 parameters: 15 x 2.5 x 4 ms. The device's 10 x 15 + 4 starts of 1 us are apart.
    Prepared::State job = ten_layers();
    job.scenario.framework.fused_optimizer = false;
    job.scenario.framework.optimizer_kernels_per_tensor = round_machine::given(15.0);
    EXPECT_NEAR(update_time(job, 0, {}).device / ms, 150 + 0.154, 1e-9);
}

TEST(OptimizerTime, OfLionIsThatOfOneState) {
    // Gradient 2; one FP32 state in and out 8; master weight in and out 8; weight out 2.
    Prepared::State job = ten_layers();
    job.scenario.plan.optimizer = Optimizer::lion;
    EXPECT_NEAR(update_ms(job), 20, 1e-9);
}

TEST(OptimizerTime, OfAnOptimizerWithKernelsOfItsOwnIsTheSameUnderEveryFramework) {
    Prepared::State fused = ten_layers(), apart = ten_layers();
    apart.scenario.framework.fused_optimizer = false;
    apart.scenario.framework.optimizer_kernels_per_tensor = round_machine::given(15.0);
    for (Prepared::State* job : {&fused, &apart}) {
        // Gradient 2; two states of 1 + 4 / 256 bytes in and out 4.0625; master in and out 8; weight out 2. Ten tensors, one launch each,
        // and 4.
        job->scenario.plan.optimizer = Optimizer::adamw_8bit;
        EXPECT_NEAR(update_time(*job, 0, {}).device / ms, 16.0625 + 0.014, 1e-9);
        // 19 passes of 4 bytes; twenty launches each, and 4.
        job->scenario.plan.optimizer = Optimizer::adafactor;
        EXPECT_NEAR(update_time(*job, 0, {}).device / ms, 76 + 0.204, 1e-9);
    }
}

// Each of ten layers is one matrix, whose sides are 1e4 and 4e4: 5 (4 x 1e8 x 4e4 + 2 x 1e12) = 90e12 FLOP, 0.9 s at 100 TFLOP/s.
TEST(OptimizerTime, OfMuonIsTheProductsOfWholeMatrices) {
    Prepared::State job = ten_layers();
    job.scenario.plan.optimizer = Optimizer::muon;
    job.templates[0].trained.dense = 400e6;
    job.templates[0].matrices = {{.rows = 40'000, .columns = 10'000}};
    const auto products = [&] { return orthogonalization_time(job, 0, {}).device / s; };
    const double one = products() / 10;  // a little more than at the peak: tiles at the edges, the last wave, fifteen launches
    EXPECT_GT(one, 0.9);
    EXPECT_LT(one, 1);
    // Beside these 4e9 parameters: gradient 2, one state in and out 8, master in and out 8, weight out 2 bytes.
    EXPECT_NEAR(update_ms(job), 1000 * products() + 4 * 20, 1e-6);
    job.scenario.framework.dispatch = round_machine::given(20 * us);
    EXPECT_NEAR(orthogonalization_time(job, 0, {}).launches / ms, 10 * 15 * 0.020, 1e-9);
    job.scenario.plan.dp = 4;
    EXPECT_NEAR(products(), 10 * one, 1e-9);  // each rank for itself
    job.scenario.plan.data_parallel = DataParallel::zero1;
    EXPECT_NEAR(products(), 10 * one / 4, 1e-9);
    job.scenario.plan.dp = 40;
    EXPECT_NEAR(products(), one, 1e-9);  // no rank that has a matrix has less than one
}

TEST(OptimizerTime, OfRanksThatAddUpIsLongerByThePassesThroughBuckets) {
    // Into a bucket, divided, out again: 6 x 2 bytes of 1e9 gradients, all of them whoever owns the states.
    Prepared::State job = ten_layers();
    job.scenario.framework.bucket_passes = round_machine::given(6.0);
    EXPECT_NEAR(update_ms(job), 28, 1e-9);  // nobody to exchange with
    job.scenario.plan.dp = 4;
    EXPECT_NEAR(update_ms(job), 28 + 12, 1e-9);
    job.scenario.plan.data_parallel = DataParallel::zero1;
    EXPECT_NEAR(update_ms(job), 7 + 12, 1e-9);
    job.scenario.plan.reduce_every_micro_batch = true;  // these are made in shards, or added up in buckets
    EXPECT_NEAR(update_ms(job), 7, 1e-9);
}

TEST(OptimizerTime, OfAHostThatUpdatesIsThePassesThroughBuckets) {
    // 6 x 2 bytes of 1e9 gradients, and no kernels of an update.
    Prepared::State job = ten_layers();
    job.scenario.framework.bucket_passes = round_machine::given(6.0);
    job.scenario.plan.dp = 4;
    job.scenario.plan.data_parallel = DataParallel::zero1;
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_NEAR(update_time(job, 0, {}).device / ms, 12, 1e-9);
}

TEST(OptimizerTime, OfManySmallTensorsIsTheHostThatLaunchesThem) {
    // 10 tensors x 3 kernels + 4 = 34 launches: 34 us of the device and nothing to move; 34 x 20 us of the host.
    Prepared::State job = ten_layers();
    job.templates[0].trained.dense = 0;
    job.scenario.framework.optimizer_kernels_per_tensor = round_machine::given(3.0);
    job.scenario.framework.dispatch = round_machine::given(20 * us);
    EXPECT_NEAR(update_time(job, 0, {}).device / us, 34, 1e-9);
    EXPECT_NEAR(update_time(job, 0, {}).launches / us, 680, 1e-9);
    EXPECT_NEAR(update_time(job, 0, {.host = 2}).launches / us, 340, 1e-9);
    // A host that reads the norm of gradients first is ahead of nothing.
    Prepared::State reads = job;
    reads.scenario.framework.waits_for_norm = true;
    EXPECT_NEAR(update_time(reads, 0, {}).device / us, 680, 1e-9);
    EXPECT_EQ(update_time(reads, 0, {}).launches, Seconds{});
    // Is the loss scaled, the host has looked at the gradients before, and the device waits for it.
    job.precision.compute = DataType::fp16;
    EXPECT_NEAR(update_time(job, 0, {}).device / us, 680, 1e-9);
    EXPECT_EQ(update_time(job, 0, {}).launches, Seconds{});
}

TEST(OptimizerTime, OfPlainKernelsIsABlockAtATime) {
    // Master weights are read once more to be copied, 32 bytes; 10 blocks of an update, a copy and the clearing of gradients.
    Prepared::State job = ten_layers();
    job.scenario.framework.plain_kernels = true;
    EXPECT_NEAR(update_time(job, 0, {}).device / ms, 32 + 0.030, 1e-9);
    // A scaled loss: the norm of 2 bytes in one kernel, then the gradients in and out.
    job.precision.compute = job.precision.activation = DataType::fp16;
    EXPECT_NEAR(update_time(job, 0, {}).device / ms, 32 + 0.030 + 2 + 0.001 + 4 + 0.010, 1e-9);
}

TEST(OptimizerTime, OnCoresHasPassesOverTheGradientsOfAScaledLoss) {
    Prepared::State job = ten_layers();
    job.scenario.cluster.node.device.kind = DeviceKind::cpu;
    const Seconds before = update_time(job, 0, {}).device;
    job.precision.compute = job.precision.activation = DataType::fp16;
    EXPECT_NEAR((update_time(job, 0, {}).device - before) / ms, 2 + 0.001 + 4 + 0.010, 1e-9);
}

TEST(OptimizerTime, IsNoneWhereNothingIsUpdatedHere) {
    Prepared::State job = ten_layers();
    job.scenario.plan.without_optimizer = true;
    EXPECT_EQ(update_time(job, 0, {}).device, Seconds{});
    job.scenario.plan.without_optimizer = false;
    job.scenario.plan.offload = Offload::optimizer;  // the host updates
    EXPECT_EQ(update_time(job, 0, {}).device, Seconds{});
}

}  // namespace
}  // namespace sextant
