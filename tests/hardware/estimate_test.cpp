#include "model/hardware/estimate.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// A GPU of which only the four things are known that every box says.
Device barely_known(FlopRate fp16_tensor) {
    Device d;
    d.name = "mine";
    d.memory.value = 24 * GiB;
    d.memory_bandwidth.value = 1 * TB / s;
    d.peaks = {{DataType::fp16, DataType::fp32, ComputeUnit::tensor, {fp16_tensor, SourceKind::datasheet, "box"}, {}}};
    return d;
}

TEST(Complete, GivesADeviceWithoutFp32OneSixteenthOfItsTensorRate) {
    Device d = barely_known(160 * TFLOP / s);
    complete(d);
    const PeakRate* fp32 = d.peak(DataType::fp32, ComputeUnit::vector);
    ASSERT_NE(fp32, nullptr);
    EXPECT_DOUBLE_EQ(fp32->rate.value / (TFLOP / s), 10);  // 160 / 16
    EXPECT_EQ(fp32->rate.kind, SourceKind::estimated);
}

TEST(Complete, CountsMultiprocessorsFromTheVectorRate) {
    Device d = barely_known(160 * TFLOP / s);
    complete(d);
    // 10 TFLOP/s over 2 x 128 lanes x 1.7 GHz = 435.2 GFLOP/s each: 22.98, so 23.
    EXPECT_EQ(d.multiprocessors, 23);
    EXPECT_DOUBLE_EQ(d.l2.value / MiB, 16);  // 16 MiB per TB/s
}

// 24 of 35.6 TFLOP/s on an RTX 3090, 54.7 of 82.6 on an RTX 4090: two thirds. FP64 has lanes of its own.
TEST(Complete, LetsFp32SustainTwoThirdsWhere128LanesShareAMultiprocessor) {
    Device d = barely_known(160 * TFLOP / s);
    d.architecture = "ada";
    for (const DataType t : {DataType::fp32, DataType::fp64})
        d.peaks.push_back({t, t, ComputeUnit::vector, {40 * TFLOP / s, SourceKind::datasheet, "box"}, {}});
    complete(d);
    EXPECT_NEAR(d.peak(DataType::fp32, ComputeUnit::vector)->achievable.value, 2.0 / 3, 0.01);
    EXPECT_GT(d.peak(DataType::fp64, ComputeUnit::vector)->achievable.value, 0.8);
}

TEST(Complete, MarksEverythingThatItAddsAsEstimatedWithAReason) {
    Device d = barely_known(160 * TFLOP / s);
    complete(d);
    EXPECT_EQ(d.clock.kind, SourceKind::estimated);
    EXPECT_EQ(d.kernel_overhead.kind, SourceKind::estimated);
    EXPECT_FALSE(d.kernel_overhead.source.empty());
    EXPECT_GT(d.kernel_overhead.value, 0 * s);
    EXPECT_GT(d.idle_power.value, 0 * W);
    EXPECT_LT(d.idle_power.value, d.power.value);
    for (const PeakRate& p : d.peaks) {
        EXPECT_GT(p.achievable.value, 0);
        EXPECT_EQ(p.achievable.kind, SourceKind::estimated);
        EXPECT_FALSE(p.achievable.source.empty());
    }
}

TEST(Complete, LeavesWhatIsStated) {
    Device d = barely_known(160 * TFLOP / s);
    d.clock = {2 * GHz, SourceKind::measured, "nvidia-smi"};
    d.kernel_overhead = {0 * s, SourceKind::measured, "an ideal device"};  // a zero that is meant
    d.peaks[0].achievable = {0.5, SourceKind::measured, "bench"};
    complete(d);
    EXPECT_DOUBLE_EQ(d.clock.value / GHz, 2);
    EXPECT_EQ(d.clock.kind, SourceKind::measured);
    EXPECT_EQ(d.kernel_overhead.value, 0 * s);
    EXPECT_DOUBLE_EQ(d.peaks[0].achievable.value, 0.5);
}

TEST(Complete, IsIdempotent) {
    Device once = barely_known(160 * TFLOP / s);
    complete(once);
    Device twice = once;
    complete(twice);
    EXPECT_EQ(twice.peaks.size(), once.peaks.size());
    EXPECT_EQ(twice.l2.value, once.l2.value);
}

TEST(Complete, TakesAnArchitecturesOwnFiguresWhereItKnowsIt) {
    Device d = barely_known(160 * TFLOP / s);
    d.architecture = "hopper";
    complete(d);
    EXPECT_DOUBLE_EQ(d.kernel_overhead.value / us, 2.48);  // measured on an H200
}

TEST(Complete, KnowsHowLongLoadsTakeOfGpusWhoseMultiprocessorsAreStated) {
    Device guessed = barely_known(160 * TFLOP / s);
    complete(guessed);
    complete(guessed);  // 23 multiprocessors by now, which nobody stated
    EXPECT_EQ(guessed.load_latency.value, 0 * s);
    Device stated = barely_known(160 * TFLOP / s);
    stated.multiprocessors = 80;
    stated.architecture = "volta";
    Device accelerator = stated;
    complete(stated);
    EXPECT_DOUBLE_EQ(stated.load_latency.value / ns, 610);  // measured on a V100
    accelerator.kind = DeviceKind::accelerator;
    complete(accelerator);
    EXPECT_EQ(accelerator.load_latency.value, 0 * s);
}

TEST(Complete, GivesALinkTheLatencyOfItsCategory) {
    LinkType link;
    link.category = LinkCategory::ethernet;
    link.bandwidth.value = 12.5 * GB / s;
    complete(link);
    EXPECT_DOUBLE_EQ(link.latency.value / us, 20);
    EXPECT_DOUBLE_EQ(link.achievable.value, 0.88);
    EXPECT_EQ(link.latency.kind, SourceKind::estimated);
}

}  // namespace
}  // namespace sextant
