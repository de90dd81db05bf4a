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

TEST(Explain, OfShardedWeightsGivesGatherAndScatterOfEachBlock) {
    // 1024 x 1025 parameters of 2 bytes over four ranks: 10 us + 3 us + 3/4 x 2.0992 MB / (100 GB/s) = 28.744 us
    Scenario job = mlp_job(1);
    job.plan.dp = 4;
    job.plan.global_batch = 4096;
    job.plan.data_parallel = DataParallel::zero3;
    const auto lines = explain(prepare(job), Term::data_communication);
    EXPECT_THAT(lines, Contains(HasSubstr("gather 28.7 us, scatter 28.7 us")));
    EXPECT_THAT(lines, testing::Not(Contains(HasSubstr("bucket"))));
}

TEST(Explain, OfExpertsGivesTheTimeOfEachExchange) {
    // 16 tokens of 64 BF16 elements go to two experts: 4096 bytes out, of which half leave:
    // 10 us + 1 us + 2048 bytes / (100 GB/s) = 11.02 us, there and back, forward and backward.
    const auto lines = explain(prepare(experts_over_two_ranks()), Term::expert_communication);
    const auto call = HasSubstr("4.10 KB, 11.0 us");
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) { return testing::Matches(call)(line); }), 4)
        << testing::PrintToString(lines);
}

TEST(Explain, OfAPipelineGivesWhatItsScheduleIsPricedBy) {
    const auto first_line = [](Schedule schedule) {
        Scenario job = products_job(4, 8);
        job.plan.pp = 4;
        job.plan.schedule = schedule;
        return explain(prepare(job), Term::bubble).front();
    };
    EXPECT_THAT(first_line(Schedule::gpipe), HasSubstr("m f_max + m b_max"));
    EXPECT_THAT(first_line(Schedule::one_f_one_b), HasSubstr("max over stages s"));
    EXPECT_THAT(first_line(Schedule::zero_bubble), HasSubstr("played pass by pass"));
}

TEST(Explain, OfWhatIsDoneBesideBlocksGivesTheNumbers) {
    Scenario job = products_job(4);
    job.plan.without_optimizer = false;
    job.framework.step_overhead = round_machine::given(3 * ms);
    job.step_noise = 0.1;
    EXPECT_THAT(explain(prepare(job), Term::optimizer), Contains(HasSubstr("trained parameters, in")));
    EXPECT_THAT(explain(prepare(job), Term::optimizer), Contains(HasSubstr("launches a tensor")));
    job.framework.plain_kernels = true;
    EXPECT_THAT(explain(prepare(job), Term::optimizer), Contains(HasSubstr("blocks one by one")));
    job.framework.plain_kernels = false;
    job.plan.offload = Offload::optimizer;
    const Prepared prepared = prepare(job);
    EXPECT_THAT(explain(prepared, Term::overhead), Contains(HasSubstr("+ 3.00 ms")));
    EXPECT_THAT(explain(prepared, Term::straggler), Contains(HasSubstr("noise 10")));
    EXPECT_THAT(explain(prepared, Term::offload), Contains(HasSubstr("gradients down")));
    EXPECT_THAT(explain(prepared, Term::optimizer), Contains(HasSubstr("the host updates")));
    EXPECT_THAT(explain(prepared, Term::launch), Contains(HasSubstr("of a micro-batch: host")));
}

// A device of 100 TFLOP/s, of which products reach 0.8, a framework 0.9 of that and its clock 0.75: 54 TFLOP/s.
TEST(Explain, SaysWhatIsLeftOfTheRateOfTheMaker) {
    Scenario job = products_job(4);
    for (PeakRate& peak : job.cluster.node.device.peaks) peak.achievable = round_machine::given(0.8);
    job.framework.native_build = round_machine::given(0.9);
    job.cluster.node.device.sustained_clock = round_machine::given(0.75);
    EXPECT_THAT(
        explain(prepare(job), Term::forward),
        Contains(HasSubstr("P sustained 54.0 TFLOP/s in bf16: the maker's 100 TFLOP/s x 0.800 that large products reach x 0.900 of the "
                           "framework x 0.750 of the clock")));
}

// 1 TB/s, of which the device streams 0.8 and the framework 0.5; 108 multiprocessors with 12.5 KB each under way for 450 ns ask for half of
// 3 TB/s: 0.4 / sqrt(1 + (0.4 / 1.5)^2) = 0.3865 TB/s.
TEST(Explain, SaysWhatIsLeftOfTheBandwidthOfTheMaker) {
    Scenario job = mlp_job(1);
    Device& device = job.cluster.node.device;
    device.stream_fraction = round_machine::given(0.8);
    job.framework.streaming_efficiency = round_machine::given(0.5);
    const std::string factors = ": the maker's 1.00 TB/s x 0.800 that it streams x 0.500 of the framework";
    EXPECT_THAT(explain(prepare(job), Term::forward), Contains(HasSubstr("W s 400 GB/s" + factors + ", o ")));
    device.multiprocessors = 108;
    device.load_latency = round_machine::given(450 * ns);
    job.framework.bytes_in_flight = round_machine::given(12'500 * B);
    EXPECT_THAT(explain(prepare(job), Term::forward), Contains(HasSubstr("W s 386 GB/s" + factors + " x 0.966 of the loads")));
}

// Where nothing is recomputed, no block has any of it.
TEST(Explain, LeavesOutBlocksThatHaveNothingToDo) {
    const auto lines = explain(prepare(products_job(4)), Term::recompute);
    EXPECT_THAT(lines, testing::Not(Contains(HasSubstr("block kind"))));
}

TEST(Explain, OfMemorySaysHowManyRanksShareExperts) {
    Scenario job = experts_over_two_ranks();
    job.plan.dp = 4;
    job.plan.global_batch = 4;
    job.plan.data_parallel = DataParallel::zero1;
    EXPECT_THAT(explain_memory(prepare(job)), Contains(HasSubstr("of what is in shards 1/4, of experts 1/2")));
}

// A layer that runs forward again works on less than one that sends all that it keeps to host memory.
TEST(Explain, OfMemoryTakesTheBlockThatNeedsMostAsTheEstimateDoes) {
    Scenario job = mlp_job(1);
    job.workload = small_gpt();
    job.plan.micro_batch = job.plan.global_batch = 1;
    job.plan.head_chunks = 64;  // logits, which are there before, are small
    job.plan.recompute = Recompute::blocks;
    job.plan.recompute_blocks = 1;
    job.plan.offload_activations = OffloadActivations::all;
    const Prepared prepared = prepare(job);
    const Bytes worked_on = estimate(prepared).memory.front()[MemoryKind::activations];  // nothing waits on the device
    job.plan.recompute = Recompute::full;
    EXPECT_LT(estimate(prepare(job)).memory.front()[MemoryKind::activations], worked_on);
    EXPECT_THAT(explain_memory(prepared), Contains(HasSubstr("and " + to_text(worked_on) + " that a block works on")));
}

// 32 tokens of 256 behind the activation, which only a product reads again: in FP8 a byte each.
TEST(Explain, OfMemoryListsTensorsAsTheyAreKept) {
    Scenario job = mlp_job(1);
    job.workload = small_gpt();
    job.plan.micro_batch = job.plan.global_batch = 2;
    EXPECT_THAT(explain_memory(prepare(job)), Contains(HasSubstr("mlp.act [32 x 256] 16.4 KB")));
    job.plan.precision = precision_policy(DataType::fp8);
    EXPECT_THAT(explain_memory(prepare(job)), Contains(HasSubstr("mlp.act [32 x 256] 8.19 KB")));
}

// Two stages of four blocks, each of which keeps its input of 1024 x 1024 elements, 2.10 MB: four blocks and their four micro-batches.
TEST(Explain, OfMemorySaysWhatWaitsForTheGradientsOfTheWeights) {
    Scenario job = products_job(8, 4);
    job.plan.pp = 2;
    job.plan.schedule = Schedule::zero_bubble;
    const auto still_read = HasSubstr(" that gradients of weights still read");
    EXPECT_THAT(explain_memory(prepare(job)), testing::Not(Contains(still_read)));
    job.plan.offload_activations = OffloadActivations::all;
    const auto lines = explain_memory(prepare(job));
    EXPECT_THAT(lines, Contains(still_read)) << testing::PrintToString(lines);
    EXPECT_THAT(lines, Contains(HasSubstr("keeps 0 B, and 2.10 MB in host memory")));
}

// Where scores of plain attention are more than all that is kept, they are what a block works on, and no micro-batches.
TEST(Explain, OfMemoryCountsNoMoreMicroBatchesThanThereAre) {
    const Scenario job =
        bundled_scenario("default", {R"(workload={"model":"mt5-base","seq_len":32768})", "plan.micro_batch=1", "plan.global_batch=2"});
    EXPECT_THAT(explain_memory(prepare(job)), Contains(HasSubstr(", of 1.00 that are under way, and ")));
}

TEST(Explain, SaysSomethingOfEveryTermAndEndsInItsShare) {
    const Prepared job = prepare(products_job(4));
    for (const Term term : all_terms) {
        const auto lines = explain(job, term);
        ASSERT_GE(lines.size(), 2U) << to_text(term);
        EXPECT_THAT(lines.back(), HasSubstr(std::string(to_text(term)) + " = "));
    }
}

}  // namespace
}  // namespace sextant
