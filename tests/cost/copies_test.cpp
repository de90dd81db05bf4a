// Operators in 16 bits on cores that compute in FP32.
#include "model/cost/kernel.hpp"
#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace sextant {
namespace {

// A product of 32 x 16 with weights of 64 x 16, and a GELU of the 32 x 64 that it makes.
BlockKernels kernels(const Plan& plan, const Framework& framework, ComputeUnit unit) {
    OperatorGraphBuilder graph;
    const TensorId data = graph.input("data", {32, 16});
    const TensorId hidden =
        graph.add({.name = "first", .kind = Gemm{.m = 32, .n = 64, .k = 16}, .inputs = {data}, .parameters = 16 * 64}, {32, 64});
    graph.output(graph.add({.name = "gelu", .kind = Pointwise{PointwiseKind::gelu, 32 * 64}, .inputs = {hidden}}, {32, 64}));
    return block_kernels(std::move(graph).build(), BlockRole::layer, plan, framework, false, unit);
}

double bytes_of(const std::vector<Kernel>& list, std::string_view name) {
    double bytes = 0;
    for (const Kernel& k : list)
        if (k.name == name) bytes += k.bytes.si();
    return bytes;
}

constexpr double hidden = 2 * 32 * 64, product = 2 * (32 * 16 + 16 * 64 + 32 * 64);  // bytes

TEST(CopiesInFp32, AreMadeOfWhatIsNoProduct) {
    // The GELU reads and writes 4 KB of BF16; as FP32 twice as much, and the copies are three times as much, read and written. Back it has
    // three operands.
    Framework framework = round_machine::framework();
    EXPECT_DOUBLE_EQ(bytes_of(kernels({}, framework, ComputeUnit::tensor).forward, "gelu"), 2 * hidden);
    framework.widens_on_cores = true;
    const BlockKernels block = kernels({}, framework, ComputeUnit::tensor);
    EXPECT_DOUBLE_EQ(bytes_of(block.forward, "gelu"), 2 * 2 * hidden);
    EXPECT_DOUBLE_EQ(bytes_of(block.forward, "gelu.copies"), 3 * 2 * hidden);
    EXPECT_DOUBLE_EQ(bytes_of(block.backward, "gelu"), 2 * 3 * hidden);
    EXPECT_DOUBLE_EQ(bytes_of(block.backward, "gelu.copies"), 3 * 3 * hidden);
    EXPECT_DOUBLE_EQ(bytes_of(block.forward, "first"), product);
    EXPECT_DOUBLE_EQ(bytes_of(block.forward, "first.copies"), 0);
}

TEST(CopiesInFp32, AreMadeOfProductsThatTheCoreHasNoUnitsFor) {
    Framework framework = round_machine::framework();
    framework.widens_on_cores = true;
    const BlockKernels block = kernels({}, framework, ComputeUnit::vector);
    EXPECT_DOUBLE_EQ(bytes_of(block.forward, "first"), 2 * product);
    EXPECT_DOUBLE_EQ(bytes_of(block.forward, "first.copies"), 3 * product);
}

TEST(CopiesInFp32, AreNotMadeOfFp32) {
    Framework framework = round_machine::framework();
    framework.widens_on_cores = true;
    Plan plan;
    plan.precision = precision_policy(DataType::fp32);
    EXPECT_DOUBLE_EQ(bytes_of(kernels(plan, framework, ComputeUnit::vector).forward, "gelu.copies"), 0);
}

TEST(CopiesInFp32, AreNoneOfTheGradientsOfWeightsWhichAreSummedInFp32) {
    // 16 x 32 and 32 x 64 in BF16 make 16 x 64 sums of four bytes.
    Framework framework = round_machine::framework();
    framework.widens_on_cores = framework.gradients_in_fp32 = true;
    const BlockKernels block = kernels({}, framework, ComputeUnit::tensor);
    const auto of_weight = std::ranges::find_if(block.backward, [](const Kernel& k) { return k.weight_gradient; });
    ASSERT_NE(of_weight, block.backward.end());
    EXPECT_DOUBLE_EQ(of_weight->bytes.si(), 2 * (16 * 32 + 32 * 64) + 4 * 16 * 64);
    EXPECT_DOUBLE_EQ(of_weight->parameters.si(), 4 * 16 * 64);
}

}  // namespace
}  // namespace sextant
