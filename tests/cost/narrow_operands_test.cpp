#include "model/cost/kernel.hpp"
#include "model/workload/workload.hpp"
#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

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

// Two experts of 64 columns behind a gate, each token to one of them: 64 rows of 64 columns, of which 128 come in. MXFP8 has a byte
// and a 32nd of a byte for its scale.
TEST(NarrowOperands, OfAGateInsideTheProductsOfExpertsAreWrittenNarrowToBeginWith) {
    Workload workload;
    TransformerSpec spec;
    spec.layers = 1, spec.hidden = 64, spec.ffn_hidden = 64, spec.heads = spec.kv_heads = 4, spec.vocab = 100, spec.seq_len = 32;
    spec.mlp = MlpKind::swiglu;
    spec.bias = false;
    spec.moe = MixtureOfExperts{.experts = 2, .topk = 1, .ffn_hidden = 64};
    workload.spec = spec;
    Shard shard;
    shard.micro_batch = 2;
    Plan plan;
    plan.precision = precision_policy(DataType::mxfp8);
    Framework framework = round_machine::framework();
    const auto layer = [&] {
        const Network network = build_network(workload, shard);
        return block_kernels(network.templates[1].graph, BlockRole::layer, plan, framework);
    };
    const auto bytes = [](const std::vector<Kernel>& kernels, std::string_view name) {
        double sum = 0;
        for (const Kernel& k : kernels)
            if (k.name == name && k.kind == KernelKind::memory) sum += k.bytes.si();
        return sum;
    };
    const double in = 64 * 128, out = 64 * 64, weights = 64 * 4;  // elements; of the router's weights bytes
    const double narrow = size_of(DataType::mxfp8).si();
    const BlockKernels apart = layer();
    EXPECT_EQ(bytes(apart.forward, "moe.act"), 2 * in + weights + 2 * out);
    EXPECT_EQ(bytes(apart.forward, "moe.fc2.quantize"), 2 * out + 2 * out * narrow);
    EXPECT_EQ(bytes(apart.backward, "moe.fc1.quantize"), 2 * in + 2 * in * narrow);
    framework.fuses_expert_gate = true;
    const BlockKernels inside = layer();
    EXPECT_EQ(bytes(inside.forward, "moe.act"), 0);
    EXPECT_EQ(bytes(inside.forward, "moe.fc2.quantize"), 2 * out * narrow);
    EXPECT_EQ(bytes(inside.backward, "moe.act"), 2 * in + weights);
    EXPECT_EQ(bytes(inside.backward, "moe.fc1.quantize"), 2 * in * narrow);
    // What comes from outside is as it was, and so is everything in BF16.
    EXPECT_EQ(bytes(inside.forward, "moe.fc1.quantize"), bytes(apart.forward, "moe.fc1.quantize"));
    plan.precision = precision_policy(DataType::bf16);
    EXPECT_EQ(bytes(layer().forward, "moe.act"), 2 * in + weights + 2 * out);
}

// Of two experts on two ranks each token goes to one. A dispatcher that sends it once takes it from where it lies.
TEST(TokenPermutation, IsNoPassWhereADispatcherSendsATokenOnce) {
    Workload workload;
    TransformerSpec spec;
    spec.layers = 1, spec.hidden = 64, spec.ffn_hidden = 64, spec.heads = spec.kv_heads = 4, spec.vocab = 100, spec.seq_len = 32;
    spec.moe = MixtureOfExperts{.experts = 2, .topk = 1, .ffn_hidden = 64};
    workload.spec = spec;
    Shard shard;
    shard.expert = 2;
    Plan plan;
    plan.ep = plan.dp = 2;
    const Network network = build_network(workload, shard);
    const auto permutations = [&] {
        const BlockKernels layer = block_kernels(network.templates[1].graph, BlockRole::layer, plan, round_machine::framework());
        const auto is_one = [](const Kernel& k) { return k.name == "moe.permute" || k.name == "moe.unpermute"; };
        return std::pair(std::ranges::count_if(layer.forward, is_one), std::ranges::count_if(layer.backward, is_one));
    };
    EXPECT_EQ(permutations(), std::pair(2L, 2L));
    plan.token_deduplication = true;
    EXPECT_EQ(permutations(), std::pair(0L, 0L));
}

}  // namespace
}  // namespace sextant
