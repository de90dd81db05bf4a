// More ranks than cores: two cores, four ranks, each product of 1024 x 1024 x 1024.
#include "model/predict/shared_cores.hpp"
#include "model/predict/state.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

Scenario on_two_cores(int ranks, int blocks) {
    Scenario job = products_job(blocks);
    job.cluster.nodes = 1;
    NodeSpec& node = job.cluster.node;
    node.device.kind = DeviceKind::cpu;
    node.ranks_per_device = ranks / 2;
    node.devices = ranks;
    node.host.turn = round_machine::given(7 * ms);
    return job;
}

Scenario data_parallel(int ranks) {
    Scenario job = on_two_cores(ranks, 1);
    job.plan.dp = ranks;
    job.plan.global_batch = ranks * 1024;
    return job;
}

TEST(SharedCores, GiveEachRankThatComputesItsPart) {
    const Terms two = estimate(prepare(data_parallel(2))).terms, four = estimate(prepare(data_parallel(4))).terms;
    EXPECT_GT(two[Term::forward], Seconds{});
    EXPECT_NEAR(four[Term::forward] / two[Term::forward], 2, 1e-9);
    EXPECT_NEAR(four[Term::backward] / two[Term::backward], 2, 1e-9);
}

TEST(SharedCores, GiveEachRankItsPartOfWhatTheyCopyAndPost) {
    Scenario job = data_parallel(4);
    MessagePassing& messages = job.library.messages.emplace();
    messages.combine = messages.copy = round_machine::given(8 * GB / s);
    messages.post = round_machine::given(3 * us);
    const Bandwidth host = job.cluster.node.host_link.bandwidth.value;
    const Scenario of_a_rank = with_rates_of_a_rank(job);
    EXPECT_NEAR(of_a_rank.cluster.node.host_link.bandwidth.value / host, 0.5, 1e-12);
    EXPECT_NEAR(of_a_rank.library.messages->combine.value / (GB / s), 4, 1e-12);
    EXPECT_NEAR(of_a_rank.library.messages->copy.value / (GB / s), 4, 1e-12);
    EXPECT_NEAR(of_a_rank.library.messages->post.value / us, 6, 1e-12);
}

Scenario tensor_parallel(Seconds turn) {
    Scenario job = on_two_cores(4, 2);
    job.plan.tp = job.plan.dp = 2;
    job.plan.global_batch = 2048;
    job.cluster.node.host.turn = round_machine::given(turn);
    return job;
}

TEST(SharedCores, MakeACallInsideALayerWaitForATurnOrForAsLongAsOthersHaveWork) {
    // Calls take no time here, only waits for cores do: exchanges of one block cut by its outputs and one by its inputs.
    const Terms without = estimate(prepare(tensor_parallel({}))).terms, little = estimate(prepare(tensor_parallel(1 * us))).terms;
    EXPECT_NEAR(without[Term::tensor_communication] / us, 0, 1e-9);
    EXPECT_GE(little[Term::tensor_communication] / us, 1);
    // However long a turn is, nobody waits longer than others compute, alone: half of what all of it takes on shared cores.
    const Terms endless = estimate(prepare(tensor_parallel(1000 * s))).terms;
    EXPECT_GT(endless[Term::tensor_communication], little[Term::tensor_communication]);
    EXPECT_LE(endless[Term::tensor_communication] / (endless[Term::forward] + endless[Term::backward]), 0.5 + 1e-9);
}

TEST(SharedCores, AreFreeWhenAllRanksExchangeTheirGradients) {
    EXPECT_NEAR(estimate(prepare(data_parallel(4))).terms[Term::data_communication] / us, 0, 1e-9);
}

// Of the calls of ZeRO-3, which take no time here, those that gather the weights of a block.
TEST(SharedCores, AreWaitedForByARankThatGathersWeights) {
    Scenario job = data_parallel(4);
    job.plan.data_parallel = DataParallel::zero3;
    job.framework.reshards_after_forward = false;
    EXPECT_NEAR(estimate(prepare(job)).terms[Term::data_communication] / ms, 7, 1e-6);
}

TEST(SharedCores, AreBusyWithTheWorkOfAllStagesHoweverUneven) {
    // Two pipelines of stages of one and three blocks, on two cores: together they have the work of two ranks that hold the whole network
    // and have a core each. So they take no less, although the rank that ends last may have a quarter of it; and no more, although it may
    // have three.
    Scenario job = on_two_cores(4, 4);
    job.plan.pp = job.plan.dp = 2;
    job.plan.global_batch = 2 * 16 * 1024;
    job.cluster.node.host.turn = round_machine::given(Seconds{});
    Scenario whole = on_two_cores(2, 4);
    whole.plan.dp = 2;
    whole.plan.global_batch = job.plan.global_batch;
    for (const std::vector<int>& blocks : {std::vector{1, 3}, std::vector{3, 1}}) {
        job.plan.stage_blocks = blocks;
        EXPECT_NEAR(estimate(prepare(job)).step / estimate(prepare(whole)).step, 1, 1e-6);
    }
}

TEST(SharedCores, AreLeftToOthersByARankThatWaitsForItsPipeline) {
    // Four stages, one micro-batch: one rank works at a time, and has a core to itself. So it takes as long as on four cores.
    Scenario job = on_two_cores(4, 4);
    job.plan.pp = 4;
    job.plan.schedule = Schedule::gpipe;
    job.cluster.node.host.turn = round_machine::given(Seconds{});
    Scenario alone = job;
    alone.cluster.node.ranks_per_device = 1;
    const Estimate shared = estimate(prepare(job)), apart = estimate(prepare(alone));
    EXPECT_NEAR(shared.step / apart.step, 1, 1e-9);
    // Two copies of two stages, one micro-batch each: half the ranks work at a time, as many as there are cores.
    job.plan.pp = alone.plan.pp = job.plan.dp = alone.plan.dp = 2;
    job.plan.global_batch = alone.plan.global_batch = 2048;
    EXPECT_NEAR(estimate(prepare(job)).step / estimate(prepare(alone)).step, 1, 1e-9);
}

TEST(SharedCores, ShareAMemoryThatFewOfThemDoNotFill) {
    // Eight cores with 10 GB/s each, of which one alone streams 25.
    Scenario job = data_parallel(8);
    NodeSpec& node = job.cluster.node;
    node.ranks_per_device = 1;
    node.device.memory_bandwidth = round_machine::given(10 * GB / s);
    const auto streamed = [&](int ranks) {
        job.plan.dp = ranks;
        job.plan.global_batch = ranks * 1024;
        return prepare(job).state().rates.memory / (GB / s);
    };
    const double beside_others = streamed(8);
    EXPECT_EQ(streamed(1), beside_others) << "where nobody measured one alone";
    node.device.bandwidth_alone = round_machine::given(2.5);
    EXPECT_NEAR(streamed(1) / beside_others, 2.5, 1e-12);
    EXPECT_NEAR(streamed(2) / beside_others, 2.5, 1e-12);
    EXPECT_NEAR(streamed(4) / beside_others, 2, 1e-12);
    EXPECT_EQ(streamed(8), beside_others);
    node.ranks_per_device = 2;  // four cores
    EXPECT_NEAR(streamed(8) / beside_others, 0.5, 1e-12);
    EXPECT_NEAR(streamed(2) / beside_others, 2, 1e-12);
}

}  // namespace
}  // namespace sextant
