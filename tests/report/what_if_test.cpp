#include "model/report/what_if.hpp"

#include "model/sextant.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// Of the closed form asked about the other hardware, over what it says to the question what if.
double as_scenario_over_as_what_if(const Scenario& job, const Resources& r) {
    return estimate(prepare(with_resources(job, r))).step / estimate(prepare(job), r).step;
}

TEST(WhatIf, NothingBetterIsTheSameScenario) {
    for (const char* name : {"default", "mixtral-8x7b-128xh100", "input-grnet-files"}) {
        const Scenario job = bundled_scenario(name);
        EXPECT_EQ(estimate(prepare(with_resources(job, {}))).step, estimate(prepare(job)).step) << name;
    }
}

TEST(WhatIf, AScenarioOfOtherHardwareIsPredictedAsTheWhatIfOfEachResource) {
    const Resources asked[] = {{.compute = 2},        {.compute = 0.5},       {.memory_bandwidth = 2}, {.latency = 4},
                               {.host = 3},           {.kernel_overhead = 2}, {.storage = 2},          {.storage_operations = 2},
                               {.loader_workers = 2}, {.loader_cores = 2},    {.overlap = 2}};
    for (const char* name : {"default", "llama-3-8b-fsdp-64xh100", "resnet50-lisa-16-nodes", "small-batch-launch-bound",
                             "input-grnet-files", "input-few-workers", "mixtral-8x7b-128xh100"}) {
        const Scenario job = bundled_scenario(name);
        for (std::size_t i = 0; i < std::size(asked); ++i)
            EXPECT_NEAR(as_scenario_over_as_what_if(job, asked[i]), 1, 1e-6) << name << ", question " << i;
    }
}

TEST(WhatIf, AnotherHostLinkIsThatOfCopies) {
    Scenario job = bundled_scenario("vit-l16-32xa100");
    job.plan.offload_activations = OffloadActivations::all;
    EXPECT_NEAR(as_scenario_over_as_what_if(job, {.host_link = 2}), 1, 1e-6);
    EXPECT_LT(estimate(prepare(job), {.host_link = 2}).step, 0.6 * estimate(prepare(job)).step);
    EXPECT_EQ(estimate(prepare(job), {.node_bandwidth = 2}).step, estimate(prepare(job)).step);  // nobody exchanges inside a node alone
}

// What a library moves by each channel stays: of all calls some are a little slower than half the network would have them.
TEST(WhatIf, HalfTheNetworkIsNearlyTheSame) {
    for (const char* name : {"llama-3-8b-fsdp-64xh100", "resnet50-lisa-16-nodes", "mixtral-8x7b-128xh100"})
        EXPECT_NEAR(as_scenario_over_as_what_if(bundled_scenario(name), {.network_bandwidth = 0.5}), 1, 1e-3) << name;
}

TEST(WhatIf, ASlotLimitsWhatTheNetworkNoLongerDoes) {
    // Eight times the network of a node: its NICs stand in slots that do not become faster, and here that is seen.
    const Scenario job = bundled_scenario("llama-3-8b-fsdp-64xh100");
    EXPECT_GE(as_scenario_over_as_what_if(job, {.network_bandwidth = 8}), 1);
}

TEST(WhatIf, TheSimulationFollowsIt) {
    // One block, two ranks: 3 g of products, then an all-reduce of 1024 x 1024 weights and 1024 biases of 2 bytes: each rank sends half of
    // them twice over 100 GB/s, 20.992 us, after 12 us of latency.
    Scenario job = products_job(1, 2);
    job.plan.dp = 2;
    job.library = round_machine::library();
    job.cluster.node.peers.link = round_machine::cluster().node.peers.link;
    const Seconds g = one_product(job);
    const auto played = [&](const Resources& r) { return simulate(with_resources(job, r)).report.estimate.step; };
    EXPECT_NEAR((played({}) - 3.0 * g) / us, 32.992, 1e-6);
    EXPECT_NEAR((played({.compute = 2}) - 1.5 * g) / us, 32.992, 1e-6);
    EXPECT_NEAR((played({.node_bandwidth = 2}) - 3.0 * g) / us, 10.496 + 12, 1e-6);
    EXPECT_NEAR((played({.latency = 2}) - 3.0 * g) / us, 20.992 + 6, 1e-6);
    EXPECT_NEAR((played({.network_bandwidth = 2}) - 3.0 * g) / us, 32.992, 1e-6);  // nothing leaves the node
}

}  // namespace
}  // namespace sextant
