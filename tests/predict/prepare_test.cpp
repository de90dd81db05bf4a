// What only the network or the finished answer shows to be wrong.
#include "model/hardware/topology.hpp"
#include "model/plan/partition.hpp"
#include "tests/base/refusal.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using ::testing::HasSubstr;

// The only problem of the job, as people see it.
std::string refusal(const Scenario& job) {
    const auto prepared = [&] { return prepare(job); };
    EXPECT_EQ(problems_found_by(prepared).size(), 1u);
    return refusal_by(prepared);
}

Scenario resnet() {
    Scenario job = mlp_job(4);
    job.workload = {"resnet50", "ResNet-50", ConvolutionalSpec{}, ""};
    job.plan.micro_batch = job.plan.global_batch = 4;
    return job;
}

TEST(Prepare, KeepsTheTopologyOfTheNodesThatItsRanksFill) {
    const Scenario job = resnet();
    EXPECT_EQ(prepare(job).topology()->nodes(), used_nodes(job));
}

TEST(Prepare, RaisesTheClockOfADeviceThatWorksAlone) {
    Scenario alone = mlp_job(4);
    alone.cluster.node.device.clock_alone.value = 1.25;
    Scenario pair = alone;
    pair.plan.dp = 2;
    pair.plan.global_batch *= 2;
    Scenario apart = pair;  // on two nodes
    apart.plan.devices_per_node = 1;
    const auto rates = [](const Scenario& job) { return prepare(job).state().rates; };
    const DataType type = alone.plan.precision.compute;
    EXPECT_NEAR(rates(alone).matrix[type].sustained / rates(pair).matrix[type].sustained, 1.25, 1e-12);
    EXPECT_EQ(rates(apart).matrix[type].sustained, rates(alone).matrix[type].sustained);
    EXPECT_EQ(rates(alone).memory, rates(pair).memory);
}

TEST(Prepare, RefusesMoreChunksThanBlocks) {
    Scenario job = resnet();
    job.plan.pp = 4;
    job.plan.vpp = 1'000'000;  // the product is beyond an int when pp is larger
    job.plan.schedule = Schedule::interleaved;
    job.plan.micro_batch = 1;
    EXPECT_THAT(refusal(job), HasSubstr("4000000 pipeline chunks for 18 blocks"));
}

TEST(Prepare, RefusesStagesThatDoNotHoldTheNetwork) {
    Scenario job = resnet();
    job.plan.pp = 2;
    job.plan.stage_blocks = {9, 9};
    EXPECT_NO_THROW(prepare(job));
    job.plan.stage_blocks = {9, 8};
    EXPECT_THAT(refusal(job), HasSubstr("the stages hold 17 blocks, the network has 18"));
}

TEST(Prepare, RefusesAStepOfGeologicalLength) {
    // A step moves its weights and activations over device memory: more than 1e6 B / 1e-300 B/s.
    Scenario job = mlp_job(4);
    job.cluster.node.device.memory_bandwidth = round_machine::given(Bandwidth::from_si(1e-300));
    EXPECT_THAT(refusal(job), HasSubstr("out of all proportion"));
}

TEST(Prepare, RefusesAStepThatIsNoNumber) {
    Scenario job = mlp_job(4);
    job.cluster.node.device.memory_bandwidth = round_machine::given(Bandwidth{});
    job.cluster.node.device.stream_fraction = round_machine::given(0.0);
    EXPECT_THAT(refusal(job), HasSubstr("out of all proportion"));
}

}  // namespace
}  // namespace sextant
