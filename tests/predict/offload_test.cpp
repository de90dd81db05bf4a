// Activations that wait in host memory, where nothing but products and their copies takes time.
#include "model/predict/state.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

Scenario offloading(OffloadActivations what, Bandwidth link) {
    Scenario job = mlp_job(4);
    round_machine::only_arithmetic_counts(job);
    job.plan.offload_activations = what;
    job.plan.global_batch = 2 * job.plan.micro_batch;
    job.cluster.node.host_link.bandwidth.value = link / job.cluster.node.host_link.achievable.value;
    return job;
}

Seconds whole_step(const Scenario& job) { return estimate(prepare(job)).step; }
Seconds copies_waited_for(const Scenario& job) { return estimate(prepare(job)).terms[Term::offload]; }

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

}  // namespace
}  // namespace sextant
