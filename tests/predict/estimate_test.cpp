// A whole step: what slow and noisy devices add, what is computed in it, and the terms that it is divided into.
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/predict/equal_blocks.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

TEST(Straggler, StretchesKernelsAlone) {
    // Four copies that reduce their gradients after backward: 24 g of products take twice as long, and nothing else.
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
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
    Scenario job = pipeline_job(2, 8, Schedule::one_f_one_b, 4);
    job.plan.stage_blocks = {1, 3};
    EXPECT_NEAR(step_of(job), 3 + 72, 1e-6);
    job.straggler = Straggler{.devices = 1, .speed = 0.5};
    EXPECT_NEAR(step_of(job), 6 + 72, 1e-6);
}

TEST(Straggler, OfNoisyRanksWaitsForTheExpectedSlowest) {
    // Eight ranks whose steps spread by 1 %: the slowest stands at the quantile (8 - 0.375) / (8 + 0.25) = 0.92424 of a normal
    // distribution, 1.4342 standard deviations of 24 g above the mean (order statistics tables: 1.4236).
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
    job.plan.dp = 8;
    job.plan.global_batch *= 8;
    job.step_noise = 0.01;
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.terms[Term::straggler] / one_product(job), 0.01 * 1.4342 * 24, 1e-5);
    job.plan.dp = 1;
    job.plan.global_batch /= 8;
    EXPECT_EQ(estimate(prepare(job)).terms[Term::straggler], Seconds{});  // alone nobody waits
}

// The usual device with half the rates of everything: products and passes take twice as long.
Device half_of(const Scenario& job) {
    Device slow = job.cluster.node.device;
    scale_compute(slow, 0.5, [](auto& number, double by) { number.value *= by; });
    slow.memory_bandwidth.value *= 0.5;
    slow.memory.value *= 0.25;
    slow.usable_memory.reset();
    slow.name = "half";
    return slow;
}

TEST(Straggler, OfAnotherKindIsAsSlowAsItsKernelsAndBoundsTheMemory) {
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    Scenario mixed = job;
    mixed.straggler = Straggler{.devices = 1, .speed = 1, .device = half_of(job)};
    job.straggler = Straggler{.devices = 1, .speed = 0.5};
    const Estimate e = estimate(prepare(mixed));
    EXPECT_NEAR(e.step / estimate(prepare(job)).step, 1, 1e-9);
    EXPECT_NEAR(e.device_memory / mixed.straggler->device->memory.value, 1, 1e-12);
    // A faster one is not the slow one.
    std::swap(mixed.cluster.node.device, *mixed.straggler->device);
    EXPECT_THROW(prepare(mixed), InputError);
}

TEST(Straggler, WithSmallerBatchesIsAMeanOfTheSpeeds) {
    // One of four at half the speed: four of 1 - 1/4 x 1/2 = 7/8 of the speed, and nobody waits.
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    const Seconds even = estimate(prepare(job)).step;
    job.straggler = Straggler{.devices = 1, .speed = 1, .device = half_of(job), .has_smaller_batches = true};
    const Estimate e = estimate(prepare(job));
    EXPECT_NEAR(e.step / even, 8.0 / 7, 1e-6);
    EXPECT_EQ(e.terms[Term::straggler], Seconds{});
}

TEST(Straggler, WithSmallerBatchesIsAMeanOfMeasuredProductsHoweverOftenOneAsks) {
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    const DataType type = job.plan.precision.compute;
    job.cluster.node.device.gemm_curves = {{type, 1024, 1024, {{512, 1 * ms}, {2048, 4 * ms}}, "round"}};
    const Seconds even = estimate(prepare(job)).step;
    job.straggler = Straggler{.devices = 1, .speed = 1, .device = half_of(job), .has_smaller_batches = true};
    const Prepared first = prepare(job), second = prepare(job);
    EXPECT_NEAR(estimate(first).step / even, 8.0 / 7, 1e-6);
    EXPECT_EQ(estimate(second).step, estimate(first).step);
}

TEST(Straggler, OfHalfTheSpeedDoublesTheStep) {
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
    job.straggler = Straggler{.devices = 1, .speed = 0.5};
    EXPECT_NEAR(step_of(job), 48, 1e-9);
}

TEST(Straggler, OfAsynchronousServersCostsTheWorkThatItLeavesUndone) {
    // One of eight devices at half the speed: the eight do the work of 7.5. Nobody waits: 8 / 7.5 - 1 = 1/15 of 24 g; noise averages out.
    Scenario job = pipeline_job(1, 8, Schedule::one_f_one_b, 1);
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
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b);
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
    Scenario job = pipeline_job(4, 8, Schedule::one_f_one_b, 5);
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
