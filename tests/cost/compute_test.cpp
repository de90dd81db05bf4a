#include "model/cost/compute.hpp"

#include "tests/cost/round_rates.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using namespace units;
using round_machine::product, round_machine::rates;

double utilization(double batch, double m, double n, double k, ComputeUnit unit = ComputeUnit::tensor) {
    return gemm_utilization(batch, m, n, k, rates(), unit);
}

TEST(GemmUtilization, OfOneFullWaveOfTheLargestTileLosesOnlyTheFillingOfEachTile) {
    // 12 x 9 tiles of 256 x 128 are 108, one for each multiprocessor. What is lost is the depth k0 that fills and drains a tile:
    // u = k / (k + k0). So k0 = k (1/u - 1) is the same whatever the depth.
    const double m = 12 * 256, n = 9 * 128;
    const double k0 = 1024 * (1 / utilization(1, m, n, 1024) - 1);
    EXPECT_GT(k0, 0);
    EXPECT_NEAR(utilization(1, m, n, 4096), 4096 / (4096 + k0), 1e-12);
}

TEST(GemmUtilization, FallsWhereOneMoreRowNeedsASecondWave) {
    // One row more makes 13 x 9 = 117 tiles: nine multiprocessors work again while 99 wait. Two waves would take twice as long;
    // smaller tiles waste less of the second one but reach less each. Between half and 85 % is left.
    const double exact = utilization(1, 12 * 256, 9 * 128, 4096), one_more = utilization(1, 12 * 256 + 1, 9 * 128, 4096);
    EXPECT_LT(one_more, 0.85 * exact);
    EXPECT_GE(one_more, 0.5 * exact);
}

TEST(GemmUtilization, OfVectorUnitsLosesAQuarterOfTheDepth) {
    // Tensor units do four times as much with a byte (docs/model/compute.md): u = k / (k + k0) with a quarter of k0. And small tiles, one
    // of 64 x 64 for each of 108 multiprocessors, are less far behind large ones.
    const double m = 12 * 256, n = 9 * 128, k = 1024;
    const double k0 = k * (1 / utilization(1, m, n, k) - 1);
    EXPECT_NEAR(utilization(1, m, n, k, ComputeUnit::vector), k / (k + k0 / 4), 1e-12);
    EXPECT_GT(utilization(108, 64, 64, k, ComputeUnit::vector), 1.1 * utilization(108, 64, 64, k));
}

TEST(GemmUtilization, CountsTheTilesOfABatchTogether) {
    // 108 products of one 256 x 128 tile each fill the device like one product of 108 tiles; one alone leaves 107 idle or cuts itself
    // small.
    EXPECT_DOUBLE_EQ(utilization(108, 256, 128, 1024), utilization(1, 12 * 256, 9 * 128, 1024));
    EXPECT_LT(utilization(1, 256, 128, 1024), 0.5 * utilization(108, 256, 128, 1024));
}

TEST(GemmUtilization, SplitsADeepProductOfFewTiles) {
    // 128 x 128 outputs are at most four tiles of 64 x 64: 4 of 108 multiprocessors, were depth not split. Depth 256 is too short to
    // split; of 8192 each part still has 512.
    EXPECT_LE(utilization(1, 128, 128, 256), 4.0 / 108);
    EXPECT_GT(utilization(1, 128, 128, 8192), 4 * 4.0 / 108);
}

TEST(GemmUtilization, OfACpuKnowsNoTiles) {
    DeviceRates cpu = rates();
    cpu.tiles = false;
    const auto at = [&](double m) { return gemm_utilization(1, m, 4096, 4096, cpu, ComputeUnit::vector); };
    EXPECT_GT(at(3073), at(3072));  // more rows never hurt
    EXPECT_GT(at(3072), 0.95);
    EXPECT_LT(at(1), 0.2);  // a vector leaves most threads without work
}

TEST(KernelTime, OfAMemoryKernelIsItsLaunchesAndItsBytes) {
    // 2 launches x 1 us + 3 GB / (1 TB/s) = 2 us + 3 ms
    Kernel k;
    k.bytes = 3 * GB;
    k.launches = 2;
    EXPECT_NEAR(kernel_time(k, rates()) / us, 3002, 1e-9);
    // Twice the bandwidth and half the overhead: 1 us + 1.5 ms. Arithmetic has no part in it.
    EXPECT_NEAR(kernel_time(k, rates(), {.compute = 10, .memory = 2, .overhead = 2}) / us, 1501, 1e-9);
}

TEST(KernelTime, OfAProductIsTheLongerOfItsArithmeticAndItsBytes) {
    // 2 x 3072 x 1152 x 4096 = 28.99 GFLOP at 100 TFLOP/s x u, and a start of 1 us.
    Kernel k = product(12 * 256, 9 * 128, 4096);
    k.bytes = 100 * MB;  // 100 us, hidden behind 290 us of arithmetic
    const double arithmetic = 2.0 * 3072 * 1152 * 4096 / 100e12 * 1e6 / utilization(1, 3072, 1152, 4096);
    EXPECT_NEAR(kernel_time(k, rates()) / us, 1 + arithmetic, 1e-9);
    k.bytes = 1 * GB;  // 1 ms: now the bytes decide
    EXPECT_NEAR(kernel_time(k, rates()) / us, 1001, 1e-9);
}

TEST(KernelTime, OfAProductThatAddsToWhatIsThereIsItsArithmeticAndThenTheSum) {
    // Of 100 MB 60 are the sum's: 40 us beside some 290 us of arithmetic, and 60 us after it.
    Kernel k = product(12 * 256, 9 * 128, 4096);
    k.bytes = 100 * MB;
    const Seconds product_alone = kernel_time(k, rates());
    k.epilogue = 60 * MB;
    EXPECT_NEAR((kernel_time(k, rates()) - product_alone) / us, 60, 1e-9);
}

TEST(KernelTime, OfRowsThatAreNoMultipleOf16BytesIsLongerOnTensorCores) {
    // 1001 columns of 2 bytes forbid the widest loads, 1008 do not, although they are more work.
    EXPECT_GT(kernel_time(product(4096, 1001, 4096), rates()), 1.2 * kernel_time(product(4096, 1008, 4096), rates()));
    Kernel wide = product(4096, 1001, 4096), aligned = product(4096, 1008, 4096);
    wide.type = aligned.type = DataType::fp32;  // vector units do not mind: both fill the same tiles
    EXPECT_NEAR(kernel_time(wide, rates()) / kernel_time(aligned, rates()), 1, 1e-12);
}

TEST(KernelTime, OfAGradientOfWeightsHasRowsOfItsResultAlone) {
    // 4095 tokens are no row: the operands are [tokens, inputs] and [tokens, outputs]. 1001 inputs are.
    Kernel odd_tokens = product(4096, 1024, 4095), odd_inputs = product(1001, 4096, 4096);
    const Seconds not_turned = kernel_time(odd_tokens, rates());
    odd_tokens.turned = odd_inputs.turned = true;
    EXPECT_LT(kernel_time(odd_tokens, rates()), 0.8 * not_turned);
    EXPECT_GT(kernel_time(odd_inputs, rates()), 1.2 * kernel_time(product(1008, 4096, 4096), rates()));
}

TEST(KernelTime, OfABatchWithoutWholeRowsDoesNotReachTensorCores) {
    // Heads of 108: 216 bytes. One product of them goes on at a fraction, a batch at what vector units multiply.
    Kernel heads = product(2048, 2048, 108);
    const Seconds one = kernel_time(heads, rates());
    heads.batch = 64, heads.flops *= 64, heads.bytes *= 64;
    EXPECT_GT(kernel_time(heads, rates()), 64.0 * one);
    EXPECT_LT(heads.flops / kernel_time(heads, rates()), rates().vector);
    heads.k = 112;  // 224 bytes
    EXPECT_GT(heads.flops / kernel_time(heads, rates()), 2.0 * rates().vector);
}

TEST(KernelTime, OfNarrowElementsNeedsMoreOfThemToARow) {
    // 16 bytes are 8 elements in BF16 and 16 in FP8: 1000 columns are a multiple of 8 only. 1000 and 1008 fill the same tiles.
    const auto ratio = [](DataType type) {
        Kernel odd = product(4096, 1000, 4096), even = product(4096, 1008, 4096);
        odd.type = even.type = type;
        return (kernel_time(odd, rates()) - 1 * us) / (kernel_time(even, rates()) - 1 * us);
    };
    EXPECT_NEAR(ratio(DataType::bf16), 1, 1e-12);
    EXPECT_GT(ratio(DataType::fp8), 1.2);
}

TEST(KernelTime, OfBlockScaledTypesLeavesTheirScalesOutOfTheRow) {
    // 4096 values of MXFP8 are as well aligned as 4096 of FP8: the scale of each 32 lies in a tensor of its own. 16 bytes of NVFP4 are 32.
    const auto efficiency = [](DataType type, int columns) {
        Kernel k = product(4096, columns, 4096);
        k.type = type;
        return k.flops / (kernel_time(k, rates()) - 1 * us) / rates().matrix[type].sustained;
    };
    EXPECT_NEAR(efficiency(DataType::mxfp8, 4096), efficiency(DataType::fp8, 4096), 1e-12);
    EXPECT_NEAR(efficiency(DataType::nvfp4, 4096), efficiency(DataType::fp8, 4096), 1e-12);
    EXPECT_LT(efficiency(DataType::nvfp4, 4080), 0.8 * efficiency(DataType::nvfp4, 4096));
}

TEST(KernelTime, OfADirectConvolutionIsAFractionOfTheVectorUnits) {
    // 3 GFLOP at 0.3 of 10 TFLOP/s, whatever the type: 1 ms.
    Kernel grouped = product(1, 1, 1);
    grouped.kind = KernelKind::convolution;
    grouped.direct = true;
    grouped.channels = 4;
    grouped.flops = 3e9 * FLOP;
    EXPECT_NEAR((kernel_time(grouped, rates()) - 1 * us) / ms, 1, 1e-9);
}

TEST(KernelTime, OfADepthwiseConvolutionIsThatOfItsLoads) {
    Kernel depthwise = product(1, 1, 1);
    depthwise.kind = KernelKind::convolution;
    depthwise.direct = true;
    depthwise.channels = 1;
    depthwise.flops = 3e9 * FLOP;
    DeviceRates d = rates();
    d.outputs = 100e9 * Hz;  // 100 multiprocessors at 1 GHz: 640 G multiply-adds a second
    EXPECT_NEAR((kernel_time(depthwise, d) - 1 * us) / ms, 1.5 / 0.64, 1e-9);
    d.tiles = false;  // a CPU, whose library has kernels of its own for them
    EXPECT_NEAR((kernel_time(depthwise, d) - 1 * us) / ms, 1, 1e-9);
}

TEST(KernelTime, OfFp8IsThatOfItsOwnDataPath) {
    Kernel narrow = product(12 * 256, 9 * 128, 4096);
    const Seconds bf16 = kernel_time(narrow, rates());
    narrow.type = DataType::fp8;
    // 200 instead of 100 TFLOP/s halves all but the start of 1 us.
    EXPECT_NEAR((kernel_time(narrow, rates()) - 1 * us) / (bf16 - 1 * us), 0.5, 1e-12);
}

TEST(KernelTime, OfAMeasuredProductIsTheMeasuredOne) {
    // 1024 rows took 10 us, 4096 rows 40 us: half-way between them in log m, 2048 rows, sqrt(10 x 40) = 20 us.
    Device d = round_machine::device();
    d.gemm_curves = {{DataType::bf16, 512, 256, {{1024, 10 * us}, {4096, 40 * us}}, "round"}};
    const DeviceRates r = device_rates(d, round_machine::framework(), Plan{});
    EXPECT_NEAR(kernel_time(product(2048, 512, 256), r) / us, 20, 1e-9);
    EXPECT_NEAR(kernel_time(product(1024, 512, 256), r) / us, 10, 1e-9);
    EXPECT_NEAR(kernel_time(product(4096, 512, 256), r) / us, 40, 1e-9);
    EXPECT_NEAR(kernel_time(product(2048, 512, 256), r, {.compute = 2}) / us, 10, 1e-9);
    Framework portable = round_machine::framework();
    portable.native_build.value = 0.5;  // the measurement is that of a native build
    EXPECT_NEAR(kernel_time(product(2048, 512, 256), device_rates(d, portable, Plan{})) / us, 40, 1e-9);
    // Beyond the measured rows, and where n, k or the type differ, the formula holds.
    for (const Kernel& other : {product(4097, 512, 256), product(1023, 512, 256), product(2048, 256, 256), product(2048, 512, 512)})
        EXPECT_EQ(kernel_time(other, r), kernel_time(other, rates()));
    Kernel wide = product(2048, 512, 256);
    wide.type = DataType::fp32;
    EXPECT_EQ(kernel_time(wide, r), kernel_time(wide, rates()));
}

Kernel attention(std::int64_t heads, std::int64_t queries, std::int64_t width) {
    Kernel k;
    k.kind = KernelKind::attention;
    k.batch = heads, k.m = queries, k.n = queries, k.k = width;
    k.type = DataType::bf16;
    k.flops = 4.0 * static_cast<double>(heads * queries * queries * width) * FLOP;
    return k;
}

TEST(AttentionTime, IsAFractionOfThePeakForWholeWavesOfWideHeads) {
    // 108 heads of 128 queries: one block for each multiprocessor. 4 x 108 x 128^2 x 128 = 0.906 GFLOP at 50 TFLOP/s: 18.12 us; backward,
    // where this device reaches 40 % of its peak, 22.65 us for as many operations.
    EXPECT_NEAR(kernel_time(attention(108, 128, 128), rates()) / us, 1 + 18.119, 1e-3);
    Kernel back = attention(108, 128, 128);
    back.backward = true;
    EXPECT_NEAR(kernel_time(back, rates()) / us, 1 + 22.649, 1e-3);
    // A framework whose kernel reaches half of the device's best needs twice the time.
    Framework old = round_machine::framework();
    old.attention_efficiency.value = 0.5;
    EXPECT_NEAR(kernel_time(attention(108, 128, 128), device_rates(round_machine::device(), old, Plan{})) / us, 1 + 36.239, 1e-3);
}

TEST(AttentionTime, OfKernelsForAmpereIsThatOfAmperesInstructionsOnNewerDevices) {
    // 1,530 operations of a multiprocessor in a clock, at 108 x 200 MHz 33.05 TFLOP/s, where the device's best kernel reaches 50; 1,330
    // backward, 28.73 where the best reaches 40. At 1 GHz they could do 165: no faster than the best.
    Device newer = round_machine::device();
    newer.clock = round_machine::given(0.2 * GHz);
    newer.load_latency = round_machine::given(450 * ns);
    Framework old = round_machine::framework();
    old.attention_for_ampere = true;
    EXPECT_NEAR(kernel_time(attention(108, 128, 128), device_rates(newer, old, Plan{})) / us, 1 + 18.119 * 50 / 33.048, 1e-3);
    Kernel back = attention(108, 128, 128);
    back.backward = true;
    EXPECT_NEAR(kernel_time(back, device_rates(newer, old, Plan{})) / us, 1 + 22.649 * 40 / 28.728, 1e-3);
    newer.load_latency = {};  // nobody counted its multiprocessors
    EXPECT_EQ(kernel_time(attention(108, 128, 128), device_rates(newer, old, Plan{})), kernel_time(attention(108, 128, 128), rates()));
    newer.load_latency = round_machine::given(450 * ns);
    newer.clock = round_machine::given(1 * GHz);
    EXPECT_EQ(kernel_time(attention(108, 128, 128), device_rates(newer, old, Plan{})), kernel_time(attention(108, 128, 128), rates()));
}

TEST(AttentionTime, OfHalfAWaveIsThatOfTheWholeOne) {
    // 54 blocks leave 54 multiprocessors idle: half the work in the same time. 109 blocks need a second wave: twice the time.
    const Seconds whole = kernel_time(attention(108, 128, 128), rates()) - 1 * us;
    EXPECT_NEAR((kernel_time(attention(54, 128, 128), rates()) - 1 * us) / whole, 1, 1e-12);
    EXPECT_NEAR((kernel_time(attention(109, 128, 128), rates()) - 1 * us) / whole, 2, 1e-12);
}

TEST(AttentionTime, PerOperationIsLongerForNarrowHeadsTheFasterProductsAre) {
    // Multiprocessors with 2,048 operations in a clock: an exponential is as long as the products of 2048 / (4 x 16) = 32 elements forward,
    // of 12.8 backward. Heads of 64 reach (64 / 96) / (128 / 160) = 0.833 of what those of 128 do, (64 / 76.8) / (128 / 140.8) = 0.917
    // back.
    Device d = round_machine::device();
    d.load_latency = round_machine::given(450 * ns);
    Kernel forward = attention(108, 128, 64), backward = forward;
    backward.backward = true;
    const auto time = [&](const Kernel& k, const Framework& f) { return (kernel_time(k, device_rates(d, f, Plan{})) - 1 * us) / us; };
    const Framework best = round_machine::framework();
    d.clock = round_machine::given(100.0 / (108 * 2048) * 1e3 * GHz);
    EXPECT_NEAR(time(forward, best), 18.119 / 2 / 0.8333, 2e-3);
    EXPECT_NEAR(time(backward, best), 22.649 / 2 / 0.9167, 2e-3);
    // Twice as many: 64 and 25.6 elements, (64 / 128) / (128 / 192) = 0.75 and (64 / 89.6) / (128 / 153.6) = 0.857.
    d.clock = round_machine::given(50.0 / (108 * 2048) * 1e3 * GHz);
    EXPECT_NEAR(time(forward, best), 18.119 / 2 / 0.75, 1e-3);
    EXPECT_NEAR(time(backward, best), 22.649 / 2 / 0.8571, 2e-3);
    // With Ampere's instructions no more than 2,048 again: 1,530 x 108 x 452 MHz / 2 = 37.35 TFLOP/s with heads of 128.
    Framework old = best;
    old.attention_for_ampere = true;
    EXPECT_NEAR(time(forward, old), 18.119 / 2 * 50 / 37.354 / 0.8333, 2e-3);
}

TEST(KernelTime, OfFewBytesInFlightIsLongerTheFasterTheMemory) {
    // 108 multiprocessors with 12,500 bytes on their way for 450 ns ask for 3 TB/s. A pass over 4 GB takes 4 ms of the memory's 1 TB/s and
    // 1.333 of theirs, together sqrt(4^2 + 1.333^2) = 4.216 ms; of a memory of 4 TB/s 1 and 1.333, together 1.667.
    Device d = round_machine::device();
    d.load_latency = round_machine::given(450 * ns);
    Framework f = round_machine::framework();
    f.bytes_in_flight = round_machine::given(12500 * B);
    Kernel pass;
    pass.bytes = 4 * GB;
    const auto time = [&] { return (kernel_time(pass, device_rates(d, f, Plan{})) - 1 * us) / ms; };
    EXPECT_NEAR(time(), 4.2164, 1e-4);
    d.memory_bandwidth = round_machine::given(4 * TB / s);
    EXPECT_NEAR(time(), 1.6667, 1e-4);
    // Twice the memory is no more than that: a what-if says the same.
    EXPECT_NEAR((kernel_time(pass, device_rates(d, f, Plan{}), {.memory = 2}) - 1 * us) / ms, std::hypot(0.5, 4.0 / 3), 1e-4);
    f.bytes_in_flight = round_machine::given(Bytes{});
    EXPECT_NEAR(time(), 1, 1e-9);
}

TEST(DeviceRates, ExpandATypeThatTheDeviceLacksAndScaleWithTheBuild) {
    Framework portable = round_machine::framework();
    portable.native_build.value = 0.5;
    const DeviceRates r = device_rates(round_machine::device(), portable, Plan{});
    EXPECT_NEAR(r.matrix[DataType::bf16].sustained / (TFLOP / s), 50, 1e-9);
    EXPECT_NEAR(r.matrix[DataType::bf16].peak / (TFLOP / s), 100, 1e-9);
    EXPECT_NEAR(r.matrix[DataType::fp16].sustained / (TFLOP / s), 5, 1e-9);  // no FP16 here: the FP32 units, 10
    EXPECT_NEAR(r.matrix[DataType::int1].sustained / (TFLOP / s), 5, 1e-9);  // the last type of all
}

TEST(DeviceRates, OfAFrameworkWithoutTensorUnitsAreThoseOfVectorUnits) {
    Framework old = round_machine::framework();
    old.tensor_units = false;
    const DeviceRates r = device_rates(round_machine::device(), old, Plan{});
    EXPECT_NEAR(r.matrix[DataType::bf16].sustained / (TFLOP / s), 10, 1e-9);
    EXPECT_EQ(r.matrix[DataType::bf16].unit, ComputeUnit::vector);
}

TEST(DeviceRates, StartKernelsOfACapturedGraphSooner) {
    Plan captured;
    captured.cuda_graph = true;
    EXPECT_NEAR(device_rates(round_machine::device(), round_machine::framework(), captured).kernel_overhead / us, 0.5, 1e-12);
}

}  // namespace
}  // namespace sextant
