// Convolutions against products of the same shape.
#include "model/cost/convolution.hpp"
#include "model/cost/compute.hpp"
#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

Kernel convolution(Window window, DataType type) {
    Kernel k;
    k.kind = KernelKind::convolution;
    k.type = type;
    k.m = 12 * 256, k.n = 9 * 128, k.k = 4096;
    k.channels = 64;
    k.window = window;
    k.flops = 2.0 * static_cast<double>(k.m * k.n * k.k) * FLOP;
    return k;
}

Kernel backward(Kernel k) {
    k.backward = true;
    return k;
}
Kernel of_weight(Kernel k) {
    k.backward = k.weight_gradient = true;
    return k;
}

TEST(Convolution, TakesWhatItsProductTakesByItsRate) {
    const Device device = round_machine::device();
    const DeviceRates rates = device_rates(device, round_machine::framework(), Plan{});
    Framework heuristic = round_machine::framework();
    heuristic.convolution_efficiency.value = 0.5;
    const DeviceRates half = device_rates(device, heuristic, Plan{});
    for (const auto& [type, unit] : {std::pair{DataType::fp32, ComputeUnit::vector}, std::pair{DataType::bf16, ComputeUnit::tensor}}) {
        const Kernel k = convolution(Window::winograd, type);
        const double product =
            gemm_utilization(1, static_cast<double>(k.m), static_cast<double>(k.n), static_cast<double>(k.k), rates, unit);
        const Seconds of_product = k.flops / (rates.matrix[type].sustained * product);
        EXPECT_NEAR((kernel_time(k, rates) - 1 * us) / of_product, 1 / convolution_rate(k, unit), 1e-12);
        EXPECT_NEAR((kernel_time(k, half) - 1 * us) / of_product, 2 / convolution_rate(k, unit), 1e-12);
    }
}

TEST(Convolution, OfThreeByThreeMultipliesLessThanIsCountedOnVectorUnits) {
    for (const auto& pass : {+[](Kernel k) { return k; }, +backward, +of_weight}) {
        EXPECT_GT(convolution_rate(pass(convolution(Window::winograd, DataType::fp32)), ComputeUnit::vector), 1);
        EXPECT_LT(convolution_rate(pass(convolution(Window::pixel, DataType::fp32)), ComputeUnit::vector), 1);
        EXPECT_LT(convolution_rate(pass(convolution(Window::winograd, DataType::bf16)), ComputeUnit::tensor), 1);
    }
}

// 1.67 with 256 channels on either side, where transforms are 20 / 256 + 20 / 256 of the products. With 64 and 64 they are 0.625 of them:
// 1.67 x 1.15625 / 1.625. Of an image of three channels more would be transformed than saved: any window's 1.04.
TEST(Convolution, OfThreeByThreeMultipliesLessThanIsCountedTheMoreChannelsThereAre) {
    const auto rate = [](std::int64_t in, std::int64_t out) {
        Kernel k = convolution(Window::winograd, DataType::fp32);
        k.channels = in;
        k.n = out;
        return convolution_rate(k, ComputeUnit::vector);
    };
    EXPECT_NEAR(rate(256, 256), 1.67, 1e-12);
    EXPECT_NEAR(rate(64, 64), 1.18827, 1e-5);
    EXPECT_NEAR(rate(3, 64), 1.04, 1e-12);
}

TEST(Convolution, OfThreeByThreeIsDoneAsAnyWindowIn64Bits) {
    EXPECT_EQ(convolution_rate(convolution(Window::winograd, DataType::fp64), ComputeUnit::vector),
              convolution_rate(convolution(Window::other, DataType::fp64), ComputeUnit::vector));
}

// The round machine with TF32 as fast as FP32, as on GeForce: 3 x 3 windows at 1.67 of 10 TFLOP/s on vector units or 0.54 of 10 on tensor
// units. With eight times the rate, as on an A100, 0.54 of 80 is more. A full wave of tiles loses a depth of 16 on vector units, of 64 on
// tensor units.
TEST(Convolution, ThatMayBeCastToTf32TakesTheFasterUnits) {
    Plan plan;
    plan.precision = precision_policy(DataType::tf32);
    Kernel k = convolution(Window::winograd, DataType::fp32);
    k.channels = 256 * 1152 / (2 * 1152 - 256);  // 1 / 144 and 1 / 1152 are twice 1 / 256
    const auto time = [&](double tf32) {
        Device device = round_machine::device();
        device.peaks.push_back(round_machine::peak(DataType::tf32, ComputeUnit::tensor, tf32));
        return kernel_time(k, device_rates(device, round_machine::framework(), plan)) - 1 * us;
    };
    Device without = round_machine::device();
    EXPECT_NEAR(time(10) / (kernel_time(k, device_rates(without, round_machine::framework(), plan)) - 1 * us), 1, 1e-12);
    EXPECT_NEAR(time(10) / time(80), 8 * 0.83 * 0.65 / 1.67 * (4096.0 + 16) / (4096 + 64), 1e-12);
}

// What sustains its whole peak as a product cannot do 1.04 of that with windows of 5 x 5, but does 1.67 where it multiplies less.
TEST(Convolution, PassesThePeakInWinogradsDomainAlone) {
    const Device device = round_machine::device();
    const DeviceRates rates = device_rates(device, round_machine::framework(), Plan{});
    const Kernel other = convolution(Window::other, DataType::fp32), winograd = convolution(Window::winograd, DataType::fp32);
    EXPECT_NEAR((kernel_time(other, rates) - 1 * us) / (other.flops / (10 * TFLOP / s)), 1, 1e-12);
    EXPECT_LT((kernel_time(winograd, rates) - 1 * us) / (winograd.flops / (10 * TFLOP / s)), 1);
}

TEST(Convolution, OfAStridedImageHasASlowGradient) {
    const Kernel dense = convolution(Window::pixel, DataType::fp32);
    Kernel strided = dense;
    strided.strided = true;
    for (const ComputeUnit unit : {ComputeUnit::vector, ComputeUnit::tensor}) {
        EXPECT_DOUBLE_EQ(convolution_rate(backward(strided), unit), 0.5 * convolution_rate(backward(dense), unit));
        EXPECT_DOUBLE_EQ(convolution_rate(strided, unit), convolution_rate(dense, unit));
        EXPECT_DOUBLE_EQ(convolution_rate(of_weight(strided), unit), convolution_rate(of_weight(dense), unit));
    }
}

TEST(Convolution, InTf32ReachesLessOfTensorUnits) {
    const Kernel wide = convolution(Window::winograd, DataType::fp32), narrow = convolution(Window::winograd, DataType::fp16);
    EXPECT_DOUBLE_EQ(convolution_rate(wide, ComputeUnit::tensor), 0.65 * convolution_rate(narrow, ComputeUnit::tensor));
    EXPECT_DOUBLE_EQ(convolution_rate(wide, ComputeUnit::vector), convolution_rate(narrow, ComputeUnit::vector));
}

TEST(Convolution, OfThreeChannelsFillsThreeEighthsOfALoadOfTensorUnits) {
    const Kernel full = convolution(Window::other, DataType::bf16);
    Kernel image = full;
    image.channels = 3;
    EXPECT_DOUBLE_EQ(convolution_rate(image, ComputeUnit::tensor), 3.0 / 8 * convolution_rate(full, ComputeUnit::tensor));
    EXPECT_DOUBLE_EQ(convolution_rate(image, ComputeUnit::vector), convolution_rate(full, ComputeUnit::vector));
    image.channels = 20;  // 24 are loaded
    EXPECT_DOUBLE_EQ(convolution_rate(image, ComputeUnit::tensor), 20.0 / 24 * convolution_rate(full, ComputeUnit::tensor));
}

}  // namespace
}  // namespace sextant
