#include "tests/cost/small_gpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

constexpr StateSpaceScan scan{.batch = 2, .sequence = 16, .heads = 4, .head_dim = 32, .groups = 2, .state = 16, .chunk = 8};

// A state space of that scan in the small GPT's place: 32 tokens by four chunks in all.
BlockKernels state_space(Precision precision = Plan{}.precision) {
    Workload workload = small_gpt();
    auto& spec = std::get<TransformerSpec>(workload.spec);
    spec.layer_pattern = "MM";
    spec.ssm = StateSpace{
        .heads = scan.heads, .head_dim = scan.head_dim, .groups = scan.groups, .state = scan.state, .kernel = 4, .chunk = scan.chunk};
    Plan plan;
    plan.precision = precision;
    Shard shard;
    shard.micro_batch = 2;
    for (const Block& b : build_network(workload, shard).templates)
        if (b.role == BlockRole::layer) return block_kernels(b.graph, b.role, plan, round_machine::framework());
    return {};
}

TEST(StateSpaceKernels, AreProductsWithinChunksAndOverStates) {
    const BlockKernels layer = state_space();
    // Gate and x of 128 columns each, B and C of 32, 4 steps.
    const Shape states{32, 16, 8}, scores{8, 8, 16}, scanned{8, 32, 24};
    EXPECT_THAT(products(layer.forward), ElementsAre(Shape{32, 324, 64}, states, scores, scanned, Shape{32, 64, 128}));
    const Shape of_shared{8, 16, 32}, by_scores{8, 16, 8};
    EXPECT_THAT(products(layer.backward),
                ElementsAre(Shape{32, 128, 64}, Shape{128, 64, 32},                                                        // out
                            states, scores, states, scanned, of_shared, of_shared, Shape{8, 8, 32}, by_scores, by_scores,  // scan
                            Shape{32, 64, 324}, Shape{64, 324, 32}));                                                      // in
    for (const Kernel& k : named(layer.forward, "ssm.scan", KernelKind::gemm))
        EXPECT_EQ(k.batch, k.m == 8 && k.n == 8 ? 4 * 2 : 4 * 4) << "a product for each chunk and head, of scores and group";
}

TEST(StateSpaceKernels, DoTheFlopsOfTheOperator) {
    const BlockKernels layer = state_space();
    const auto sum = [](const std::vector<Kernel>& kernels) {
        Flops flops;
        for (const Kernel& k : named(kernels, "ssm.scan", KernelKind::gemm)) flops += k.flops;
        return flops.si();
    };
    EXPECT_EQ(sum(layer.forward), forward_flops(OperatorKind(scan)).si());
    EXPECT_EQ(sum(layer.backward), backward_flops(OperatorKind(scan)).si());
}

// In BF16. 192 channels pass the convolution, 128 the norm and its gate.
TEST(StateSpaceKernels, PassOverTheirOperands) {
    Precision bf16;
    bf16.compute = bf16.activation = bf16.parameter = DataType::bf16;
    const BlockKernels layer = state_space(bf16);
    const double channels = 32 * 192 * 2, inner = 32 * 128 * 2;
    EXPECT_EQ(bytes_of(layer.forward, "ssm.conv"), 2 * channels);
    EXPECT_EQ(bytes_of(layer.backward, "ssm.conv"), 3 * channels);
    EXPECT_EQ(bytes_of(layer.forward, "ssm.gated_norm"), 3 * inner);
    EXPECT_EQ(bytes_of(layer.backward, "ssm.gated_norm"), 5 * inner);
    // States are fp32: 16 of 32 x 16, read and written from chunk to chunk.
    EXPECT_EQ(bytes_of(layer.forward, "ssm.scan.pass"), 2 * 16 * 32 * 16 * 4);
}

// Scales of FP8 are for large weights: the scan multiplies activations.
TEST(StateSpaceKernels, AreNotNarrowed) {
    Precision fp8;
    fp8.compute = DataType::fp8;
    fp8.activation = fp8.parameter = DataType::bf16;
    for (const Kernel& k : named(state_space(fp8).forward, "ssm.scan", KernelKind::gemm)) EXPECT_EQ(k.type, DataType::bf16);
    EXPECT_EQ(named(state_space(fp8).forward, "ssm.in", KernelKind::gemm).front().type, DataType::fp8);
}

}  // namespace
}  // namespace sextant
