// How many there are is held against the executor itself: tests/backend/launch_counts_test.cpp. Here: what they move and multiply.
#include "model/cost/compute.hpp"
#include "tests/cost/small_gpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Cut plain(DataType activation = DataType::bf16) {
    Cut cut;
    cut.framework.plain_kernels = true;
    cut.plan.precision.compute = cut.plan.precision.activation = activation;
    return cut;
}

double bytes(const Kernel& k) { return k.bytes.si(); }

TEST(PlainKernels, MultiplyForQueriesKeysAndValuesApart) {
    const BlockKernels layer = plain().layer();
    EXPECT_THAT(products(layer.forward), ElementsAre(Shape{32, 64, 64}, Shape{32, 64, 64}, Shape{32, 64, 64}, Shape{32, 64, 64},
                                                     Shape{32, 256, 64}, Shape{32, 64, 256}));
    // Their gradients are summed in FP32: the first is written, the next two are read and written, and the sum is rounded to 2 bytes.
    const auto of_qkv = named(layer.backward, "attention.qkv", KernelKind::gemm);
    ASSERT_THAT(of_qkv, SizeIs(6));  // of the input, then of the weight
    const double operands = 2 * (32 * 64 + 64 * 64);
    EXPECT_DOUBLE_EQ(bytes(of_qkv[0]), operands + 4 * 32 * 64);
    EXPECT_DOUBLE_EQ(bytes(of_qkv[2]), operands + 8 * 32 * 64);
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "attention.qkv.round"), 6 * 32 * 64);
    EXPECT_THAT(named(plain(DataType::fp32).layer().backward, "attention.qkv.round"), IsEmpty());
}

TEST(PlainKernels, AddToGradientsInFp32FromTheFirstMicroBatch) {
    Cut cut = plain();
    cut.framework.fused_gradient_accumulation = cut.framework.gradients_in_fp32 = cut.framework.accumulates_from_first = true;
    const auto of_fc1 = named(cut.layer().backward, "mlp.fc1", KernelKind::gemm);
    EXPECT_DOUBLE_EQ(of_fc1.at(1).epilogue.si(), (4 + 4 - 2) * 64 * 256);
}

TEST(PlainKernels, HoldTheScoresOfASampleInFp32) {
    const BlockKernels layer = plain(DataType::fp32).layer();
    EXPECT_THAT(named(layer.forward, "attention", KernelKind::attention), IsEmpty());
    const auto forward = named(layer.forward, "attention", KernelKind::gemm);
    // Four heads of each of two samples: a call for a sample, with all 16 keys, though the mask leaves 136 of 256 pairs.
    ASSERT_THAT(forward, SizeIs(2));
    for (const Kernel& k : forward) {
        EXPECT_EQ(k.batch, 8);
        EXPECT_EQ(k.launches, 2);
        EXPECT_DOUBLE_EQ(k.flops.si(), 2.0 * 8 * 16 * 16 * 16);
    }
    EXPECT_DOUBLE_EQ(bytes_of(layer.forward, "attention.softmax"), 4 * 8 * (136 + 256));
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "attention.softmax"), 2 * 4 * 8 * (136 + 256));
    EXPECT_THAT(named(layer.backward, "attention", KernelKind::gemm), SizeIs(5));
    EXPECT_THAT(named(plain().layer().forward, "attention", KernelKind::attention), SizeIs(1));  // in 16 bits a library has it
}

TEST(PlainKernels, MeasureRowsAgainToGoBack) {
    const BlockKernels layer = plain().layer();
    // x; x and dy for the gain; x and dy in, dx out.
    EXPECT_DOUBLE_EQ(bytes_of(layer.backward, "mlp.norm"), 6 * stream);
    EXPECT_EQ(named(layer.backward, "mlp.norm").at(0).launches, 5);
    EXPECT_EQ(named(layer.backward, "mlp.fc1").at(0).launches, 3);  // the gradient of the bias
}

TEST(PlainKernels, WaitForMemoryWhereTheySumOrAgree) {
    const auto waits = [](const BlockKernels& layer, const char* name) {
        double sum = 0;
        for (const auto* list : {&layer.forward, &layer.backward})
            for (const Kernel& k : named(*list, name, KernelKind::memory)) sum += k.waits;
        return sum;
    };
    const BlockKernels layer = plain().layer();
    EXPECT_EQ(waits(layer, "mlp.fc1"), 10);               // the gradient of the bias
    EXPECT_EQ(waits(layer, "mlp.norm"), 3 + 10 + 2 * 3);  // rows, the gradient of the gain, rows measured again and their gradients
    EXPECT_EQ(waits(layer, "mlp.act"), 0);
    EXPECT_EQ(waits(Cut().layer(), "mlp.norm"), 0);
    Device d = round_machine::device();
    d.load_latency = round_machine::given(450 * ns);
    Kernel k;
    k.waits = 10;
    EXPECT_NEAR(kernel_time(k, device_rates(d, round_machine::framework(), Plan{})) / us, 1 + 4.5, 1e-9);
}

TEST(PlainKernels, KeepMoreBytesOnTheirWayTheWiderTheirElements) {
    Device d = round_machine::device();
    d.load_latency = round_machine::given(450 * ns);
    Framework f = round_machine::framework();
    f.bytes_in_flight = round_machine::given(12500 * B);  // 3 TB/s, of elements of two bytes
    f.plain_kernels = true;
    Plan plan;
    plan.precision.activation = DataType::bf16;
    EXPECT_NEAR(device_rates(d, f, plan).loads / (TB / s), 3, 1e-9);
    plan.precision.activation = DataType::fp32;
    EXPECT_NEAR(device_rates(d, f, plan).loads / (TB / s), 6, 1e-9);
    f.plain_kernels = false;
    EXPECT_NEAR(device_rates(d, f, plan).loads / (TB / s), 3, 1e-9);
    // A thread that asks for one element where others ask for eight: 1 ms of the memory and 8 / 6 of the multiprocessors.
    f.plain_kernels = true;
    Kernel pass;
    pass.bytes = 1 * GB;
    pass.in_flight = 1.0 / 8;
    EXPECT_NEAR((kernel_time(pass, device_rates(d, f, plan)) - 1 * us) / ms, std::hypot(1, 8.0 / 6), 1e-9);
}

TEST(PlainKernels, MakeAnOutputOfAnImageAClock) {
    Device d = round_machine::device();
    d.clock = round_machine::given(1 * GHz);
    const DeviceRates rates = device_rates(d, round_machine::framework(), Plan{});
    Kernel k;
    k.kind = KernelKind::convolution;
    k.type = DataType::bf16;
    k.m = 1000000, k.n = 64, k.k = 27;
    k.flops = 2.0 * 64e6 * 27 * FLOP;
    const Seconds as_product = kernel_time(k, rates);
    k.outputs = 108e6;  // of 108 multiprocessors, 1e9 a second each: 1 ms
    EXPECT_LT(as_product, 1 * ms);
    EXPECT_NEAR((kernel_time(k, rates) - 1 * us) / ms, 1, 1e-9);
}

TEST(KernelTime, OfBackwardInTf32IsLongerOnHopper) {
    Device d = round_machine::device();
    d.peaks.push_back(round_machine::peak(DataType::tf32, ComputeUnit::tensor, 50));
    Plan plan;
    plan.precision.tf32 = true;
    Kernel k;
    k.kind = KernelKind::gemm;
    k.m = k.n = k.k = 4096;
    k.type = DataType::fp32;
    k.flops = 2.0 * 4096.0 * 4096.0 * 4096.0 * FLOP;
    Framework framework = round_machine::framework();
    framework.plain_kernels = true;
    const auto time = [&](bool backward, bool turned) {
        k.backward = backward;
        k.turned = turned;
        return kernel_time(k, device_rates(d, framework, plan)) - 1 * us;
    };
    EXPECT_EQ(time(true, true), time(false, false));
    d.tf32_across_one = round_machine::given(0.87);
    d.tf32_across_both = round_machine::given(0.69);
    EXPECT_NEAR(time(false, false) / time(true, false), 0.87, 1e-9);
    EXPECT_NEAR(time(false, false) / time(true, true), 0.69, 1e-9);
    plan.precision.tf32 = false;  // vector units do not mind
    EXPECT_EQ(time(true, true), time(false, false));
}

}  // namespace
}  // namespace sextant
