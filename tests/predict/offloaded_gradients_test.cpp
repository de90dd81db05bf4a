#include "tests/predict/data_parallel_state.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

TEST(DataParallel, OfAnOffloadedOptimizerCopiesTheOwnedPartAndUpdatesItInHostMemory) {
    // Each of four ranks owns 0.25e9 parameters. Gradients down and weights up, 4 bytes, at 20 GB/s: 50 ms.
    // The node's four parts, 28 bytes a parameter, at 200 GB/s: 140 ms.
    Prepared::State job = replicated(DataParallel::zero2);
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_NEAR(price_ms(job, {}, {}).offload, 190, 1e-9);
}

TEST(DataParallel, OfOffloadedGradientsCopiesThemBehindTheirReduction) {
    // As above, where gradients go down in FP32 behind their reduction: 0.25e9 x 4 bytes at 20 GB/s are 50 ms beside a scatter and a gather
    // of 15.013 ms. Left with the update: weights up, 25 ms, and the host's 140 ms.
    Prepared::State job = replicated(DataParallel::zero2);
    job.scenario.plan.offload = Offload::optimizer;
    job.scenario.framework.offloaded_gradients = OffloadedGradients::added_on_device;
    EXPECT_NEAR(price_ms(job, {}, 200 * ms).exposed, 50 + 2 * 15.013, 1e-9);
    EXPECT_NEAR(price_ms(job, {}, {}).offload, 165, 1e-9);
    // Five buckets of two blocks, one every 40 ms: 3.013 ms and 10 ms. The last of them shows.
    job.scenario.plan.gradient_overlap = true;
    job.scenario.framework.bucket = round_machine::given(0.4 * GB);
    EXPECT_NEAR(price_ms(job, {}, 200 * ms).exposed, 3.013 + 10 + 15.013, 1e-9);
    EXPECT_NEAR(price_ms(job, {}, 200 * ms).hidden, 4 * 13.013, 1e-9);
    // Of two micro-batches the first goes down in 16 bits, 5 ms a bucket; then that comes up, is added to, goes down and once more in FP32:
    // 20 ms a bucket. Of the first the last bucket hides, too, behind the second's backward.
    job.micro_batches = 2;
    EXPECT_NEAR(price_ms(job, {}, 200 * ms).exposed, (3.013 + 20) + 15.013, 1e-9);
    // Kernels are slower beside scatters, not beside copies: those of 3.013 ms in four of five buckets of each micro-batch.
    job.micro_batches = 1;
    job.scenario.framework.overlap_slowdown.value = 1.25;
    EXPECT_NEAR(price_ms(job, {}, 200 * ms).slowdown, 4 * 3.013 * (1 - 1 / 1.25), 1e-9);
}

TEST(DataParallel, OfOffloadedGradientsOfZero3HidesThemToo) {
    // Ten blocks: 20 us + 1.5 ms to gather or scatter one (1.513), 0.025e9 x (2 + 2 + 4) bytes at 20 GB/s down, up and down: 10 ms.
    Prepared::State job = replicated(DataParallel::zero3);
    job.scenario.plan.gather_overlap = true;
    job.scenario.plan.offload = Offload::optimizer;
    job.scenario.framework.offloaded_gradients = OffloadedGradients::added_on_device;
    EXPECT_NEAR(price_ms(job, 100 * ms, 400 * ms).exposed, 1.513 + 1.513 + 10, 1e-9);
    // Weights that come from the host: 0.025e9 x 2 bytes, 2.5 ms before each gather. Of the first nothing hides.
    job.scenario.plan.offload = Offload::optimizer_and_parameters;
    EXPECT_NEAR(price_ms(job, 100 * ms, 400 * ms).exposed, 2.5 + 1.513 + 1.513 + 10, 1e-9);
}

TEST(DataParallel, OfAnOffloadedOptimizerOwnsEverythingWhereThePlanShardsNothing) {
    // Each of four ranks holds all 1e9 parameters: 4 GB at 20 GB/s, and 4 x 28 GB at 200 GB/s. 200 + 560 ms.
    Prepared::State job = replicated();
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_NEAR(price_ms(job, {}, {}).offload, 760, 1e-9);
}

}  // namespace
}  // namespace sextant
