// Activations that wait in host memory, where nothing but products and their copies takes time.
#include "model/predict/state.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace sextant {
namespace {

using namespace units;

Scenario offloading(OffloadActivations what, Bandwidth link) {
    Scenario job = products_job(4, 2);
    job.plan.offload_activations = what;
    job.cluster.node.host_link.bandwidth.value = link / job.cluster.node.host_link.achievable.value;
    return job;
}

Seconds whole_step(const Scenario& job) { return estimate(prepare(job)).step; }
Seconds copies_waited_for(const Scenario& job) { return estimate(prepare(job)).terms[Term::offload]; }

// Bytes over the link for each gradient of two bytes: of a step's first micro-batch, of one between, of its last and of a single one.
TEST(Offload, OfGradientsMovesWhatTheFrameworkDoes) {
    Plan plan;
    plan.dp = 4;
    plan.data_parallel = DataParallel::zero2;
    plan.offload = Offload::optimizer;
    Framework framework;
    const auto over_link = [&](bool first, bool last) {
        const GradientCopy copy = gradient_copy(plan, framework, Precision{}, {first, last});
        return std::pair(copy.over_link.si(), copy.in_host_memory.si());
    };
    const auto all = [&] {
        return std::array{over_link(true, false), over_link(false, false), over_link(false, true), over_link(true, true)};
    };
    using Copies = std::array<std::pair<double, double>, 4>;
    framework.offloaded_gradients = OffloadedGradients::copied;
    EXPECT_EQ(all(), (Copies{{{2, 0}, {2, 0}, {2, 0}, {2, 0}}}));
    framework.offloaded_gradients = OffloadedGradients::added_on_host;
    EXPECT_EQ(all(), (Copies{{{2, 0}, {2, 6}, {2, 6}, {2, 0}}}));
    framework.offloaded_gradients = OffloadedGradients::added_on_device;
    EXPECT_EQ(all(), (Copies{{{2, 0}, {4, 0}, {8, 0}, {4, 0}}}));
    plan.data_parallel = DataParallel::zero3;
    EXPECT_EQ(all(), (Copies{{{4, 0}, {4, 0}, {8, 0}, {8, 0}}}));
    EXPECT_TRUE(offloads_gradients(plan, framework));
    plan.data_parallel = DataParallel::all_reduce;  // nobody owns a shard
    EXPECT_FALSE(offloads_gradients(plan, framework));
    plan.dp = 1;
    EXPECT_TRUE(offloads_gradients(plan, framework));
}

// What a block keeps takes three times as long to copy as its forward, g; its backward takes 2 g. Two micro-batches of four blocks wait 2 g
// on the way there and g on the way back.
TEST(Offload, OfActivationsWaitsForWhatCopiesTakeLongerThanPasses) {
    const Scenario kept = offloading(OffloadActivations::none, 1 * GB / s);
    const Seconds g = one_product(kept);
    Bytes all;
    const Prepared prepared = prepare(kept);
    for (const BlockKernels& k : prepared.state().templates) all = max(all, k.saved);
    const Scenario job = offloading(OffloadActivations::all, all / (3 * g));
    EXPECT_NEAR((whole_step(job) - whole_step(kept)) / g, 2 * 4 * (2 + 1), 1e-6);
    EXPECT_NEAR(copies_waited_for(job) / g, 2 * 4 * (2 + 1), 1e-6);
    EXPECT_EQ(copies_waited_for(kept), Seconds{});
}

TEST(Offload, OfActivationsHidesBehindPassesThatTakeLonger) {
    EXPECT_EQ(copies_waited_for(offloading(OffloadActivations::all, 1e6 * TB / s)), Seconds{});
}

// Of the four blocks one is a head: one layer of three, a third of each copy behind each pass.
TEST(Offload, OfSomeLayersIsSpreadOverAll) {
    const Scenario kept = offloading(OffloadActivations::none, 1 * GB / s);
    const Seconds g = one_product(kept);
    const Prepared prepared = prepare(kept);
    Bytes all;
    for (const BlockKernels& k : prepared.state().templates) all = max(all, k.saved);
    Scenario job = offloading(OffloadActivations::layers, all / (3 * g));
    job.plan.offloaded_layers = 1;
    EXPECT_NEAR(copies_waited_for(job) / g, 0, 1e-6);
    job.plan.offloaded_layers = 2;
    EXPECT_NEAR(copies_waited_for(job) / g, 2 * 4 * 1, 1e-6);  // 2 g to copy, g forward, 2 g backward
}

// Weights come in less time than a block's forward takes with its copies, and in more than one without: of that, blocks wait for them that
// run again and copy their input alone. Where half of them do, the step waits half as much.
TEST(Offload, OfActivationsHidesWeightsThatComeBehindItsCopies) {
    const auto waited = [](int blocks_that_run_again) {
        Scenario job = offloading(OffloadActivations::all, 10 * GB / s);
        TransformerSpec network;
        network.layers = 40;
        network.vocab = 1000;
        job.workload.spec = network;
        job.cluster.node.peers.link.bandwidth = round_machine::given(24 * GB / s);
        job.plan.dp = 2;
        job.plan.data_parallel = DataParallel::zero3;
        job.plan.gather_overlap = job.plan.gradient_overlap = true;
        job.plan.micro_batch = 1;
        job.plan.global_batch = 2;
        job.plan.recompute = Recompute::blocks;
        job.plan.recompute_blocks = blocks_that_run_again;
        return estimate(prepare(job)).terms[Term::data_communication];
    };
    const Seconds none = waited(0), half = waited(20), all = waited(40);
    EXPECT_GT(all, 1.5 * none);
    EXPECT_NEAR((half - none) / (all - none), 0.5, 0.05);
}

}  // namespace
}  // namespace sextant
