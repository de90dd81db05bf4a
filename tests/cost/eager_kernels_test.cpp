// Of operators that PyTorch composes of its functions: what the functions move, and what backward reads of them.
#include "tests/cost/small_gpt.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

// With a gate, norms of a mean square and rotated queries and keys.
Workload small_llama() {
    Workload workload = small_gpt();
    auto& spec = std::get<TransformerSpec>(workload.spec);
    spec.mlp = MlpKind::swiglu;
    spec.norm = NormKind::rms;
    spec.position = PositionKind::rotary;
    spec.bias = spec.dropout = false;
    return workload;
}

BlockKernels layer(bool composes, DataType activation = DataType::bf16) {
    Plan plan;
    plan.precision.compute = plan.precision.activation = activation;
    Framework framework = round_machine::framework();
    framework.composes_functions = composes;
    Shard shard;
    shard.micro_batch = 2;
    shard.flash_attention = true;
    for (const Block& b : build_network(small_llama(), shard).templates)
        if (b.role == BlockRole::layer) return block_kernels(b.graph, b.role, plan, framework);
    return {};
}

constexpr double gate = 4 * stream;  // bytes of what comes out of it: 256 columns where the stream has 64

TEST(EagerKernels, OfAGateAreAnActivationAndAProduct) {
    EXPECT_DOUBLE_EQ(bytes_of(layer(false).forward, "mlp.act"), 3 * gate);
    EXPECT_DOUBLE_EQ(bytes_of(layer(false).backward, "mlp.act"), 5 * gate);
    const BlockKernels eager = layer(true);
    EXPECT_DOUBLE_EQ(bytes_of(eager.forward, "mlp.act"), 5 * gate);
    EXPECT_DOUBLE_EQ(bytes_of(eager.backward, "mlp.act"), 9 * gate);
    EXPECT_EQ(named(eager.forward, "mlp.act").at(0).launches, 2);
    EXPECT_EQ(named(eager.backward, "mlp.act").at(0).launches, 3);
}

TEST(EagerKernels, OfAnRmsNormWidenAndNarrowAgain) {
    EXPECT_DOUBLE_EQ(bytes_of(layer(false).forward, "mlp.norm"), 2 * stream);
    // 36 and 68 bytes of an element, which has two
    EXPECT_DOUBLE_EQ(bytes_of(layer(true).forward, "mlp.norm"), 18 * stream);
    EXPECT_DOUBLE_EQ(bytes_of(layer(true).backward, "mlp.norm"), 34 * stream);
    // In FP32 there is nothing to widen: 7 and 17 passes over four bytes.
    EXPECT_DOUBLE_EQ(bytes_of(layer(true, DataType::fp32).forward, "mlp.norm"), 7 * 2 * stream);
    EXPECT_DOUBLE_EQ(bytes_of(layer(true, DataType::fp32).backward, "mlp.norm"), 17 * 2 * stream);
}

TEST(EagerKernels, KeepWhatTheirFunctionsReadInBackward) {
    // The activation of the gate; of either norm four bytes of what was widened and two of what was normalized, for each two of the stream.
    EXPECT_DOUBLE_EQ((layer(true).saved - layer(false).saved).si(), gate + 2 * 3 * stream);
}

}  // namespace
}  // namespace sextant
