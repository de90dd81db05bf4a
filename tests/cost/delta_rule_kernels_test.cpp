#include "tests/cost/small_gpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

constexpr DeltaRuleScan rule{.batch = 2, .sequence = 16, .heads = 4, .key_dim = 32, .value_dim = 16, .chunk = 8};

// A delta rule of that scan in the small GPT's place: 32 tokens by four chunks in all, two heads of values to one of keys.
BlockKernels delta_rule() {
    Workload workload = small_gpt();
    auto& spec = std::get<TransformerSpec>(workload.spec);
    spec.layer_pattern = "GG";
    spec.delta_rule =
        DeltaRule{.key_heads = 2, .value_heads = rule.heads, .key_dim = rule.key_dim, .value_dim = rule.value_dim, .chunk = rule.chunk};
    Shard shard;
    shard.micro_batch = 2;
    for (const Block& b : build_network(workload, shard).templates)
        if (b.role == BlockRole::layer) return block_kernels(b.graph, b.role, Plan{}, round_machine::framework());
    return {};
}

TEST(DeltaRuleKernels, AreProductsWithinChunksAndOverStates) {
    const BlockKernels layer = delta_rule();
    // Gate and values of 64 columns each, queries and keys of 64, two numbers of each head.
    const Shape scores{8, 8, 32}, keys{8, 32, 8}, values{8, 16, 8}, read{8, 16, 32}, written{32, 16, 8};
    EXPECT_THAT(products(layer.forward),
                ElementsAre(Shape{32, 264, 64}, scores, keys, values, read, written, read, scores, values, Shape{32, 64, 64}));
    for (const Kernel& k : named(layer.forward, "delta.scan", KernelKind::gemm)) EXPECT_EQ(k.batch, 4 * 4) << "for each chunk and head";
}

TEST(DeltaRuleKernels, DoTheFlopsOfTheOperator) {
    const BlockKernels layer = delta_rule();
    const auto sum = [](const std::vector<Kernel>& kernels) {
        Flops flops;
        for (const Kernel& k : named(kernels, "delta.scan", KernelKind::gemm)) flops += k.flops;
        return flops.si();
    };
    EXPECT_EQ(sum(layer.forward), forward_flops(OperatorKind(rule)).si());
    EXPECT_EQ(sum(layer.backward), backward_flops(OperatorKind(rule)).si());
}

// Queries and keys of two heads become those of four: 64 columns are read and 128 written, in 16 bits.
TEST(DeltaRuleKernels, SpreadTheHeadsOfKeys) {
    const BlockKernels layer = delta_rule();
    EXPECT_EQ(bytes_of(layer.forward, "delta.spread_q"), 32 * (64 + 128) * 2);
    EXPECT_EQ(bytes_of(layer.forward, "delta.spread_k"), 32 * (64 + 128) * 2);
}

}  // namespace
}  // namespace sextant
