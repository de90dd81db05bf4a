#include "model/io/scenario/allocation_reader.hpp"

#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Nodes of 40 cores, which are `devices` CPU devices of 1 TFLOP/s and 100 GB/s each.
Scenario on_cpus(int devices, int used, int cores) {
    Scenario s;
    NodeSpec& node = s.cluster.node;
    node.devices = devices;
    node.host.cores = 40;
    node.device.kind = DeviceKind::cpu;
    node.device.clock = {2 * GHz, SourceKind::datasheet, "test"};
    node.device.memory_bandwidth = {100 * GB / units::s, SourceKind::datasheet, "test"};
    node.device.peaks.push_back(
        {DataType::fp32, DataType::fp32, ComputeUnit::vector, {1 * TFLOP / units::s, SourceKind::datasheet, "test"}, {}});
    s.plan.dp = used;
    s.cores = cores;
    leave_part_of_cores(s);
    return s;
}
double teraflops(const Scenario& s) { return s.cluster.node.device.peaks[0].rate.value / (TFLOP / units::s); }
double gigabytes(const Scenario& s) { return s.cluster.node.device.memory_bandwidth.value / (GB / units::s); }

// 4 of 40 cores: a tenth of the arithmetic; half of the cores have all of the bandwidth, so a fifth of it.
TEST(AllocationReader, ACpuComputesOnTheCoresThatTheJobHas) {
    const Scenario s = on_cpus(1, 1, 4);
    EXPECT_NEAR(teraflops(s), 0.1, 1e-12);
    EXPECT_NEAR(gigabytes(s), 20, 1e-9);
    EXPECT_EQ(s.cluster.node.device.clock.value, 2 * GHz);
    EXPECT_THAT(s.cluster.node.device.peaks[0].rate.source, HasSubstr("4 of 40 cores"));
    EXPECT_THAT(s.assumptions, Contains(HasSubstr("4 of 40 cores")));
    EXPECT_NEAR(gigabytes(on_cpus(1, 1, 30)), 100, 1e-9);
    EXPECT_NEAR(teraflops(on_cpus(1, 1, 30)), 0.75, 1e-12);
}

// Two devices of 20 cores: on one of them 20 are enough, on both 30 are three quarters.
TEST(AllocationReader, CoresAreThoseOfTheDevicesThatAreUsed) {
    EXPECT_THAT(on_cpus(2, 1, 20).assumptions, IsEmpty());
    EXPECT_NEAR(teraflops(on_cpus(2, 1, 20)), 1, 1e-12);
    EXPECT_NEAR(teraflops(on_cpus(2, 2, 30)), 0.75, 1e-12);
    EXPECT_THAT(on_cpus(1, 1, 40).assumptions, IsEmpty());
}

// A GPU computes as ever, whatever feeds it.
TEST(AllocationReader, AGpuIsNotItsHostsCores) {
    const Scenario s = bundled_scenario("input-few-workers", {"hardware.cores=2"});
    EXPECT_EQ(s.cluster.node.device.peaks[0].rate.value, bundled_scenario("input-few-workers").cluster.node.device.peaks[0].rate.value);
    EXPECT_THAT(s.assumptions, Not(Contains(HasSubstr("cores of a node"))));
}

TEST(AllocationReader, AStepOnATenthOfTheCoresTakesSeveralTimesAsLong) {
    const std::vector<std::string> two{"hardware.nodes=2", "plan.dp=2"};
    std::vector<std::string> few = two;
    few.emplace_back("hardware.cores=4");
    const Seconds all = predict(bundled_scenario("cpu-data-parallel", two)).estimate.step;
    EXPECT_GT(predict(bundled_scenario("cpu-data-parallel", few)).estimate.step / all, 4);
    EXPECT_LT(predict(bundled_scenario("cpu-data-parallel", few)).estimate.step / all, 10.5);
}

}  // namespace
}  // namespace sextant
