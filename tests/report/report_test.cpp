#include "model/report/report.hpp"

#include "model/predict/state.hpp"
#include "model/report/running_cost.hpp"
#include "model/report/what_if.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/report/reported_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

using namespace units;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

TEST(Report, ModelFlopsUtilizationIsUsefulWorkOverThePeakOfAllDevices) {
    // Alone a device does nothing but products: 2 x 1024^3 FLOP in g, of 100 TFLOP/s.
    const Scenario alone = products_job(4, 8);
    const double u = 2.0 * 1024 * 1024 * 1024 * FLOP / one_product(alone) / (100 * TFLOP / s);
    EXPECT_NEAR(report_of(alone).mfu, u, 1e-12);
    // In a pipeline of four it works 24 g of 33 g.
    Scenario pipeline = alone;
    pipeline.plan.pp = 4;
    const Report r = report_of(pipeline);
    EXPECT_NEAR(r.mfu, u * 8 / 11, 1e-12);
    EXPECT_NEAR(r.hfu, r.mfu, 1e-12);  // nothing runs twice
    EXPECT_NEAR(r.utilization, 8.0 / 11, 1e-12);
    EXPECT_NEAR(r.peak / (TFLOP / s), 100, 1e-9);
}

TEST(Report, ADeviceIsIdleWhileServersOrItsHostHaveWhatItWaitsFor) {
    Terms terms;
    terms[Term::forward] = 1 * s;
    terms[Term::data_communication] = 3 * s;
    EXPECT_NEAR(utilization(terms, {}), 1, 1e-12);  // a collective is a kernel
    Plan with_servers;
    with_servers.data_parallel = DataParallel::async_parameter_server;
    EXPECT_NEAR(utilization(terms, with_servers), 0.25, 1e-12);
    terms[Term::offload] = 1 * s;
    EXPECT_NEAR(utilization(terms, {}), 0.8, 1e-12);
}

TEST(Report, HardwareFlopsUtilizationCountsWhatRunsAgain) {
    // Three of four blocks are layers and run forward again: 15 products executed for 12 useful ones.
    Scenario job = products_job(4);
    job.plan.recompute = Recompute::full;
    const Report r = report_of(job);
    EXPECT_NEAR(r.hfu / r.mfu, 15.0 / 12, 1e-12);
}

TEST(Report, SaysWhatOfThePlanItsFrameworkCannotDo) {
    Scenario job = products_job(4, 8);
    job.plan.pp = 4;
    job.framework.title = "Horovod";
    job.framework.lacks = {PlanFeature::zero3, PlanFeature::pipeline};
    EXPECT_THAT(report_of(job).assumptions, Contains("Horovod has no pipelines: predicted as if it had"));
    EXPECT_THAT(report_of(job).assumptions, Not(Contains(HasSubstr("ZeRO-3"))));  // nor does the plan need it
    job.framework.lacks = {};
    EXPECT_THAT(report_of(job).assumptions, Not(Contains(HasSubstr("predicted as if"))));
}

TEST(Report, SaysWhichSettingsDoNothing) {
    Scenario job = products_job(4, 8);
    EXPECT_THAT(report_of(job).advice, Not(Contains(HasSubstr("does nothing"))));
    job.plan.recompute = Recompute::full;
    job.plan.pipeline_overlap = false;
    job.plan.expert_overlap = true;
    job.plan.scattered = true;
    EXPECT_THAT(report_of(job).advice,
                IsSupersetOf({"plan.pipeline_overlap does nothing: pp is 1", "plan.expert_overlap does nothing: the network has no experts",
                              "plan.scattered does nothing: all ranks are on one node"}));
    EXPECT_THAT(report_of(job).advice, Not(Contains(HasSubstr("plan.recompute"))));  // it does
    job.plan.forward_only = true;
    EXPECT_THAT(report_of(job).advice, Contains("plan.recompute does nothing: forward alone keeps nothing for a backward"));
}

TEST(Report, ThroughputIsTheGlobalBatchOverTheStep) {
    const Scenario job = products_job(4, 8);
    const Report r = report_of(job);
    EXPECT_NEAR(r.samples_per_s.si(), 8192 / (8 * 12 * one_product(job)).si(), 1e-6);
    EXPECT_FALSE(r.tokens_per_s);
}

TEST(Report, ScalingEfficiencyIsTheStepWithoutDataParallelismOverTheStep) {
    // One block, two ranks: 1024 x 1024 weights and 1024 biases of 2 bytes over 100 GB/s, 20.992 us, and 12 us of latency beside 3 g.
    Scenario job = products_job(1, 2);
    job.plan.dp = 2;
    job.library = round_machine::library();
    job.cluster.node.peers.link = round_machine::cluster().node.peers.link;
    const Seconds work = 3.0 * one_product(job);
    EXPECT_NEAR(report_of(job).scaling_efficiency, work / (work + 32.992 * us), 1e-9);
}

TEST(Report, CostOfTheRunIsStepsTimesStepTimesReservedDevices) {
    // 10 000 samples in steps of 8192: two steps. Two devices are paid, one works at 400 W, the other idles at 100 W; 600 W for the node.
    Scenario job = products_job(4, 8);
    job.run.samples = 10'000;
    job.run.device_price = 3 * USD / hour;
    job.reserved_devices = 2;
    job.cluster.node.base_power = round_machine::given(600 * W);
    const Report r = report_of(job);
    const Seconds run = 2.0 * (8.0 * 12 * one_product(job));
    ASSERT_TRUE(r.run && r.run->cost);
    EXPECT_EQ(r.run->steps, 2);
    EXPECT_NEAR(r.run->time / run, 1, 1e-12);
    EXPECT_NEAR(r.run->device_time / run, 2, 1e-12);
    EXPECT_NEAR(*r.run->cost / USD, 6 * (run / hour), 1e-12);
    EXPECT_NEAR(r.run->energy / (1100 * W * run), 1, 1e-12);
    EXPECT_THAT(r.advice, Contains(HasSubstr("1 of 2 reserved devices do nothing")));
    EXPECT_THAT(explain_run(prepare(job)),
                testing::IsSupersetOf({HasSubstr("energy: 1.10 kW x " + to_text(run) + " = " + to_text(r.run->energy)),
                                       HasSubstr("cost: 2 devices x " + to_text(run) + " x 3.00 USD/h = ")}));
}

TEST(Report, TheRunIsAsUncertainAsItsStep) {
    Scenario job = products_job(4, 8);
    job.run.samples = 10'000;  // two steps
    const Report r = report_of(job);
    EXPECT_NEAR(interval_of(r.run->time, r).low / (2 * r.low), 1, 1e-12);
    EXPECT_NEAR(interval_of(r.run->time, r).high / (2 * r.high), 1, 1e-12);
}

TEST(Report, CostFallsBackToThePriceOfTheDeviceAndThenOfTheNode) {
    Scenario job = products_job(4, 8);
    job.run.epochs = 3;
    job.run.dataset_samples = 8192;
    EXPECT_FALSE(report_of(job).run->cost);
    job.cluster.node.price = round_machine::given(8 * USD / hour);  // four devices
    const double hours = 3 * (8.0 * 12 * one_product(job)) / hour;
    EXPECT_NEAR(*report_of(job).run->cost / USD, 2 * hours, 1e-12);
    job.cluster.node.device.price = round_machine::given(5 * USD / hour);
    EXPECT_NEAR(*report_of(job).run->cost / USD, 5 * hours, 1e-12);
}

TEST(Report, TwoKindsOfDevicesDrawAndCostEachItsOwn) {
    // Three of 100 W idle and 400 W busy, one of 50 and 200 W that computes twice as long; 600 W for the node. At 0.4 of the time
    // 3 x 220 + (50 + 0.8 x 150) + 600 = 1430 W, at 0.9 it never rests: 3 x 370 + 200 + 600 = 1910 W. With smaller batches it works as
    // long as the others: 3 x 220 + 110 + 600 = 1370 W. Three at 5 USD/h and one at 1: 4 USD/h each.
    Scenario job = products_job(4, 8);
    job.plan.dp = 4;
    job.cluster.node.base_power = round_machine::given(600 * W);
    Device other = job.cluster.node.device;
    other.power = round_machine::given(200 * W);
    other.idle_power = round_machine::given(50 * W);
    job.straggler = Straggler{1, 0.5, other};
    EXPECT_NEAR(power_drawn(job, 0.4, 4) / W, 1430, 1e-9);
    EXPECT_NEAR(power_drawn(job, 0.9, 4) / W, 1910, 1e-9);
    job.cluster.node.device.price = round_machine::given(5 * USD / hour);
    EXPECT_NEAR(*device_rent(job) / (USD / hour), 5, 1e-12);
    other.price = round_machine::given(1 * USD / hour);
    job.straggler = Straggler{1, 0.5, other, true};
    EXPECT_NEAR(power_drawn(job, 0.4, 4) / W, 1370, 1e-9);
    EXPECT_NEAR(*device_rent(job) / (USD / hour), 4, 1e-12);
    job.run.samples = 8;
    const RunCost run = *report_of(job).run;
    EXPECT_NEAR(*run.cost / (run.device_time * (USD / hour)), 4, 1e-12);
    // One of four with half the peak: seven eighths on average.
    const FlopRate usual = report_of(job).peak;
    scale_compute(*job.straggler->device, 0.5, [](auto& number, double by) { number.value *= by; });
    EXPECT_NEAR(report_of(job).peak / usual, 7.0 / 8, 1e-12);
}

TEST(Report, ScalesTheLearningRateByTheBatchOrItsRoot) {
    Scenario job = products_job(4, 4);
    job.run.base_learning_rate = 0.1;
    job.run.base_batch = 256;  // of 4096: 16 times
    const BatchAdvice a = report_of(job).batch;
    EXPECT_EQ(a.effective_batch, 4096);
    EXPECT_DOUBLE_EQ(a.linear_rate.value(), 1.6);
    EXPECT_DOUBLE_EQ(a.square_root_rate.value(), 0.4);
}

TEST(Report, TheLargestMicroBatchFillsWhatTheWeightsLeave) {
    // One block: 1024 x 1025 parameters of 16 bytes, 16.7936 MB. A sample keeps its 1024 inputs (2048 bytes), its logits (2048) and their
    // FP32 copy (4096): 8192 bytes. (100 MB - 16.7936 MB) / 8192 = 10 157.03
    Scenario job = products_job(1);
    job.plan.without_optimizer = false;
    job.cluster.node.device.memory = round_machine::given(100 * MB);
    EXPECT_EQ(report_of(job).batch.largest_micro_batch, 10'157);
    job.cluster.node.device.memory = round_machine::given(10 * MB);
    EXPECT_EQ(report_of(job).batch.largest_micro_batch, 0);
    job.cluster.node.device.memory = round_machine::given(1e6 * GB);  // a plan may ask for a million
    EXPECT_EQ(report_of(job).batch.largest_micro_batch, 1'000'000);
    EXPECT_TRUE(report_of(job).batch.any_micro_batch_fits());
}

// The round machine has memory for more samples than a step has: 4096 of four micro-batches of 1024, and none beside a single one.
TEST(Report, AdvisesNoLargerMicroBatchThanAStepHas) {
    const auto advised = [](std::int64_t micro_batches) {
        Scenario job = products_job(8, micro_batches);
        job.framework.dispatch = job.framework.backward_dispatch = round_machine::given(10 * ms);
        return report_of(job).advice;
    };
    EXPECT_THAT(advised(4), Contains(HasSubstr("a micro-batch of up to 4,096 fits and would need fewer kernels")));
    EXPECT_THAT(advised(1), Contains(HasSubstr("twice the micro-batch and the global batch fit")));
}

TEST(Report, SaysByWhatAnIdleFabricIsUsed) {
    Scenario job = products_job(1);
    job.plan.dp = 8;  // two nodes
    job.plan.global_batch *= 8;
    job.cluster.node.ethernet = job.cluster.node.nic_link;
    job.use_ethernet = true;
    EXPECT_THAT(report_of(job).advice, Contains(HasSubstr("is idle: hardware.ethernet=false uses it")));
    job.use_ethernet = false;
    job.library.sockets_only = true;
    EXPECT_THAT(report_of(job).advice, Contains(HasSubstr("is idle: choose a library other than")));
    job.use_ethernet = true;  // to say otherwise would change nothing
    EXPECT_THAT(report_of(job).advice, Contains(HasSubstr("is idle: choose a library other than")));
}

TEST(Report, SaysWhereTheDeviceMultipliesInAnotherType) {
    Scenario job = products_job(1);
    EXPECT_THAT(report_of(job).assumptions, testing::Not(Contains(HasSubstr("does not multiply"))));
    job.plan.precision = precision_policy(DataType::fp16);
    EXPECT_THAT(report_of(job).assumptions, Contains("round device does not multiply fp16: products run in fp32"));
}

// Of adapters that move less of device memory than their link carries, that is what the answer rests on, unless sockets are used.
TEST(Report, RestsOnWhatAnAdapterMovesOfDeviceMemory) {
    const auto network = [](std::vector<std::string> overrides) {
        const Report r = predict(bundled_scenario("resnet50-snellius-2-nodes", overrides));
        const auto of_network = [](const InputUsed& i) { return i.resource == &Resources::network_bandwidth; };
        const auto found = std::ranges::find_if(r.inputs, of_network);
        return found == r.inputs.end() ? std::string() : found->name + " " + found->value;
    };
    EXPECT_EQ(network({}), "device memory that InfiniBand HDR 4x moves 7.80 GB/s");
    EXPECT_THAT(network({"hardware.ethernet=true"}), HasSubstr("bandwidth of Ethernet 25 GbE kernel TCP"));
}

// Whose framework casts by itself is told so: a plan in fp32 is taken at its word.
TEST(Report, SaysThatAFrameworkCastsToTf32) {
    const auto assumptions = [](std::vector<std::string> overrides) {
        return predict(bundled_scenario("resnet50-snellius-4xa100", overrides)).assumptions;
    };
    const auto casts = Contains(HasSubstr("to TF32 unless it is told not to"));
    EXPECT_THAT(assumptions({"framework=pytorch-ddp", "plan.precision=fp32"}), casts);
    EXPECT_THAT(assumptions({"framework=pytorch-ddp", "plan.precision=tf32"}), testing::Not(casts));
    EXPECT_THAT(assumptions({"framework=tensorflow-1", "plan.precision=fp32"}), testing::Not(casts));
    EXPECT_THAT(assumptions({"framework=pytorch-ddp", "plan.precision=fp32", "hardware.cluster=lisa-1080ti"}), testing::Not(casts));
    // Only convolutions are cast by PyTorch, all products by TensorFlow.
    const std::vector<std::string> bert{"workload=bert-large", "plan.precision=fp32", "plan.micro_batch=1", "plan.global_batch=4"};
    const auto with = [&](const char* framework) {
        std::vector<std::string> all = bert;
        all.emplace_back("framework=" + std::string(framework));
        return assumptions(all);
    };
    EXPECT_THAT(with("pytorch-ddp"), testing::Not(casts));
    EXPECT_THAT(with("tensorflow-2-xla"), casts);
}

TEST(Report, RoomOfExpertsThatNobodyFillsIsNoModelWork) {
    Scenario job = experts_over_two_ranks();
    const Estimate dropless = estimate(prepare(job));
    for (const int ranks : {2, 1}) {
        job.plan.dp = job.plan.ep = ranks;
        std::get<TransformerSpec>(job.workload.spec).moe->capacity_factor = 4;
        const Estimate padded = estimate(prepare(job));
        EXPECT_EQ(padded.model_flops / FLOP, dropless.model_flops / FLOP);
        EXPECT_GT(padded.hardware_flops, 1.5 * dropless.hardware_flops);
    }
}

// One more expert for each of 16 tokens, of 64 of which most see none: forward and twice that backward, of two products in two layers.
TEST(Report, ExpertsThatFewTokensSeeAreNotCountedAsFull) {
    Scenario job = experts_over_two_ranks();
    job.plan.dp = job.plan.ep = 1;
    job.plan.global_batch = 1;
    const auto of = [&](int topk) {
        MixtureOfExperts& moe = *std::get<TransformerSpec>(job.workload.spec).moe;
        moe.experts = 64, moe.topk = topk;
        return estimate(prepare(job)).model_flops / FLOP;
    };
    EXPECT_NEAR(of(2) - of(1), 3.0 * 2 * 2 * 16 * (2 * 64 * 256), 1);
}

TEST(Report, AtOtherResourcesIsWhatTheBottleneckForetells) {
    const Scenario job = products_job(4, 8);
    const Report now = report_of(job);
    // Nothing but products takes time: at twice the rate half of it.
    const Report faster = report_of(with_resources(job, {.compute = 2}));
    EXPECT_NEAR(faster.estimate.step / now.estimate.step, 0.5, 1e-12);
    EXPECT_EQ(faster.estimate.step, now.bottleneck.movers.front().step_at_double);
    // Twice that again; and of a device twice as fast the same part is used.
    EXPECT_NEAR(faster.bottleneck.movers.front().step_at_double / now.estimate.step, 0.25, 1e-12);
    EXPECT_NEAR(faster.mfu, now.mfu, 1e-12);
    EXPECT_NEAR(faster.low / faster.estimate.step, now.low / now.estimate.step, 1e-12);
}

TEST(Report, MemoryGrowsWithTheMicroBatchByItsActivationsAlone) {
    StageMemory m;
    m[MemoryKind::weights] = 10 * GB;
    m[MemoryKind::activations] = 2 * GB;
    m[MemoryKind::logits] = 1 * GB;
    EXPECT_NEAR(with_micro_batch_scaled(m, 3, 80 * GB).total() / GB, 10 + 3 * 3, 1e-12);
    // What is reserved and not used grows likewise, and is given back where there is no room: 20.5, 20 of 20, and 19 that do not fit
    // into 18.
    m[MemoryKind::fragmentation] = 0.5 * GB;
    EXPECT_NEAR(with_micro_batch_scaled(m, 3, 80 * GB).total() / GB, 20.5, 1e-12);
    EXPECT_NEAR(with_micro_batch_scaled(m, 3, 20 * GB).total() / GB, 20, 1e-12);
    EXPECT_NEAR(with_micro_batch_scaled(m, 3, 18 * GB).total() / GB, 19, 1e-12);
}

}  // namespace
}  // namespace sextant
