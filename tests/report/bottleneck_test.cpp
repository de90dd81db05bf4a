#include "model/report/bottleneck.hpp"

#include "model/io/report/report_fields.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::HasSubstr;
using testing::SizeIs;

Bottleneck bottleneck_of(const Scenario& scenario) {
    const Prepared job = prepare(scenario);
    return find_bottleneck(job, estimate(job));
}

TEST(Bottleneck, IsComputeWhereNothingElseTakesTime) {
    const Bottleneck b = bottleneck_of(products_job(8));
    EXPECT_EQ(b.kind, BottleneckKind::compute);
    ASSERT_THAT(b.movers, SizeIs(1));  // resources that change nothing are not listed
    EXPECT_EQ(b.movers[0].resource, "compute rate");
    EXPECT_NEAR(b.movers[0].gain, 0.5, 1e-12);
    EXPECT_FALSE(b.changes_at);  // and stays it however fast the device
}

TEST(Bottleneck, ChangesWhereTwiceTheOtherResourceGainsMore) {
    // Arithmetic takes 24 g, the host 24 g / 5 once a step. With x times the compute, doubling it again saves 24 g / 2 x, doubling the
    // host's speed 24 g / 10: the host leads from x = 5. The search stops within 5 %.
    Scenario job = products_job(8);
    job.framework.step_overhead = round_machine::given(24.0 / 5 * one_product(job));
    const Bottleneck b = bottleneck_of(job);
    EXPECT_EQ(b.kind, BottleneckKind::compute);
    ASSERT_TRUE(b.changes_at);
    EXPECT_GE(*b.changes_at, 5);
    EXPECT_LE(*b.changes_at, 5 * 1.05);
    EXPECT_THAT(b.changes_at_text, HasSubstr("the limit becomes host speed"));
}

TEST(Bottleneck, IsMemoryBandwidthWhereProductsWaitForTheirOperands) {
    Scenario job = products_job(8);
    job.cluster.node.device.memory_bandwidth = round_machine::given(1 * GB / s);
    EXPECT_EQ(bottleneck_of(job).kind, BottleneckKind::memory_bandwidth);
}

TEST(Bottleneck, IsTheHostWhereItCannotKeepUp) {
    Scenario job = products_job(8);
    job.framework.dispatch = job.framework.backward_dispatch = round_machine::given(10 * ms);
    const Bottleneck b = bottleneck_of(job);
    EXPECT_EQ(to_text(b.kind), "host (latency)");  // nothing communicates
    EXPECT_EQ(b.movers.at(0).resource, "host speed");
    EXPECT_THAT(b.why, HasSubstr("the device waits for the host"));
}

TEST(Bottleneck, IsTheBandwidthOfTheLinksThatTheGradientsCross) {
    Scenario job = products_job(8);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    job.cluster.node.peers.link.bandwidth = round_machine::given(100 * MB / s);
    const Bottleneck inside = bottleneck_of(job);
    EXPECT_EQ(inside.kind, BottleneckKind::communication_bandwidth);
    EXPECT_EQ(inside.movers.at(0).resource, "bandwidth inside the node");
    job.plan.dp = 8;  // two nodes
    job.plan.global_batch *= 2;
    job.cluster.node.nic_link.bandwidth = round_machine::given(10 * MB / s);
    EXPECT_EQ(bottleneck_of(job).movers.at(0).resource, "network bandwidth");
}

TEST(Bottleneck, SaysThatLessLatencyIsBetter) {
    // Ten seconds to start the one all-reduce of the step: half of them would save 5 s.
    Scenario job = products_job(8);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    for (Protocol& p : job.library.protocols) p.base = round_machine::given(10 * s);
    const Mover first = bottleneck_of(job).movers.at(0);
    EXPECT_EQ(first.change, "half the communication latency");
    EXPECT_NEAR(first.gain, 0.5, 1e-3);
}

TEST(Bottleneck, IsTheHostLinkWhereActivationsWaitInHostMemory) {
    // Activations take longer over 1 MB/s than anything else here: twice the link, half the step.
    Scenario job = products_job(8);
    job.plan.offload_activations = OffloadActivations::all;
    job.cluster.node.host_link.bandwidth = round_machine::given(1 * MB / s);
    job.cluster.node.host.memory = round_machine::given(1 * GB);
    const Bottleneck b = bottleneck_of(job);
    EXPECT_EQ(b.kind, BottleneckKind::communication_bandwidth);
    EXPECT_EQ(b.movers.at(0).resource, "bandwidth of the host link");
    EXPECT_NEAR(b.movers.at(0).gain, 0.5, 1e-2);
    EXPECT_THAT(b.why, HasSubstr("copies between device and host memory that nothing hides take"));
    EXPECT_THAT(what_would_move_it(make_report(prepare(job))), HasSubstr("plan.offload_activations=none (-"));
}

TEST(Bottleneck, IsTheSizeOfMemoryWhereTheJobDoesNotFit) {
    Scenario job = products_job(8);
    job.plan.without_optimizer = false;
    job.cluster.node.device.memory = round_machine::given(100 * MB);
    const Bottleneck b = bottleneck_of(job);
    EXPECT_EQ(b.kind, BottleneckKind::memory_size);
    EXPECT_THAT(b.why, HasSubstr("the device has 100 MB"));
    EXPECT_THAT(what_would_move_it(make_report(prepare(job))), HasSubstr("what `sextant plan` finds, more devices, or"));
    EXPECT_EQ(b.movers.at(0).resource, "compute rate");  // what would move the time is still said
}

// One of four at half the speed: 48 g, of which the others wait 24 g.
TEST(Bottleneck, SaysThatWorkersWaitForASlowOne) {
    Scenario job = products_job(8);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    job.straggler = Straggler{1, 0.5};
    const Bottleneck b = bottleneck_of(job);
    EXPECT_THAT(b.why, HasSubstr("50 % of the step ranks wait for slower ones"));
    EXPECT_THAT(b.what_else_helps, testing::StartsWith("workers that are equally fast (-50 %), "));
    const auto even = std::ranges::find(b.movers, "workers equally fast", &Mover::change);
    ASSERT_NE(even, b.movers.end());
    EXPECT_NEAR(even->gain, 0.5, 1e-9);
    EXPECT_NEAR(even->step_at_double / (24 * one_product(job)), 1, 1e-9);
    job.straggler->speed = 1;
    EXPECT_THAT(bottleneck_of(job).why, testing::Not(HasSubstr("straggler")));
}

// Whoever holds everything holds no less beside more others.
TEST(Bottleneck, NamesMoreDevicesOnlyWhereTheyShareWhatIsTooLarge) {
    Scenario job = products_job(8);
    job.plan.without_optimizer = false;
    job.cluster.node.device.memory = round_machine::given(100 * MB);
    using enum PlanFeature;
    job.framework.lacks = {pipeline, zero3};
    EXPECT_THAT(bottleneck_of(job).what_else_helps, testing::EndsWith(" of memory in each device"));
    EXPECT_THAT(bottleneck_of(job).what_else_helps, testing::Not(HasSubstr("more devices")));
}

}  // namespace
}  // namespace sextant
