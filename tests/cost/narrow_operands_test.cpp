#include "model/cost/kernel.hpp"
#include "model/workload/workload.hpp"
#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

Bytes saved_by_a_layer(DataType compute) {
    Workload workload;
    TransformerSpec spec;
    spec.layers = 1, spec.hidden = 64, spec.ffn_hidden = 256, spec.heads = spec.kv_heads = 4, spec.vocab = 100, spec.seq_len = 32;
    workload.spec = spec;
    Shard shard;
    shard.micro_batch = 2;
    shard.flash_attention = false;
    const Network network = build_network(workload, shard);
    Plan plan;
    plan.precision = precision_policy(compute);
    for (const Block& block : network.templates)
        if (block.role == BlockRole::layer) return block_kernels(block.graph, block.role, plan, round_machine::framework()).saved;
    return {};
}

// A GPT layer with plain attention: only weight products read the norms' outputs (s b h each, for QKV and fc1), the context (s b h,
// for the projection) and gelu's output (4 s b h, for fc2): 7 s b h elements, which FP8 keeps in one byte and BF16 in two.
// s 32, b 2, h 64: 7 x 4096 = 28672 bytes less.
TEST(NarrowOperands, OfWeightProductsAreKeptInTheNarrowFormatAndNothingElseIs) {
    EXPECT_DOUBLE_EQ((saved_by_a_layer(DataType::bf16) - saved_by_a_layer(DataType::fp8)) / units::B, 28'672);
}

}  // namespace
}  // namespace sextant
