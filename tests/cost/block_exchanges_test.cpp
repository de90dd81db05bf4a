#include "tests/cost/small_gpt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_literals;

// Kinds and bytes, in order.
std::vector<std::pair<ExchangeKind, double>> list(const std::vector<ExchangeCall>& calls) {
    std::vector<std::pair<ExchangeKind, double>> pairs;
    for (const ExchangeCall& c : calls) pairs.emplace_back(c.kind, c.bytes.si());
    return pairs;
}

TEST(Exchanges, OfTensorParallelismSumTheStreamTwiceEachWay) {
    Cut cut;
    cut.tensor = 2;
    const BlockKernels layer = cut.layer();
    const std::pair sum{ExchangeKind::all_reduce, stream};
    EXPECT_THAT(list(layer.forward_exchanges), ElementsAre(sum, sum));   // behind attention and MLP
    EXPECT_THAT(list(layer.backward_exchanges), ElementsAre(sum, sum));  // before them
    EXPECT_THAT(list(layer.recompute_exchanges), IsEmpty());
}

TEST(Exchanges, OfSequenceParallelismGatherAndScatterAndGatherAgainForBackward) {
    Cut cut;
    cut.tensor = 2;
    cut.sequence_parallel = true;
    const BlockKernels layer = cut.layer();
    const std::pair gather{ExchangeKind::all_gather, stream}, scatter{ExchangeKind::reduce_scatter, stream};
    EXPECT_THAT(list(layer.forward_exchanges), ElementsAre(gather, scatter, gather, scatter));
    // Backward from the MLP's end. Leaving a pair: the gradient is gathered. Entering: the input is gathered again for the weight
    // gradient, then its gradient is scattered.
    EXPECT_THAT(list(layer.backward_exchanges), ElementsAre(gather, gather, scatter, gather, gather, scatter));
}

// What is multiplied in FP8 is made so by each rank of its part of the sequence, and gathered in one byte instead of two: activations,
// forward and for the weights' gradients, and gradients of what leaves. What is summed over ranks stays in BF16. MXFP8, 33 bytes for 32
// values, has its scales along rows or along columns: a gradient that both products of backward read is gathered twice.
TEST(Exchanges, OfWhatIsMultipliedNarrowCarryItNarrow) {
    Cut cut;
    cut.tensor = 2;
    cut.sequence_parallel = true;
    cut.plan.precision = precision_policy(DataType::fp8);
    const BlockKernels fp8 = cut.layer();
    const std::pair gather{ExchangeKind::all_gather, stream / 2}, scatter{ExchangeKind::reduce_scatter, stream};
    EXPECT_THAT(list(fp8.forward_exchanges), ElementsAre(gather, scatter, gather, scatter));
    EXPECT_THAT(list(fp8.backward_exchanges), ElementsAre(gather, gather, scatter, gather, gather, scatter));
    cut.plan.precision = precision_policy(DataType::mxfp8);
    const BlockKernels mxfp8 = cut.layer();
    const std::pair once{ExchangeKind::all_gather, stream / 2 * 33 / 32}, twice{ExchangeKind::all_gather, stream * 33 / 32};
    EXPECT_THAT(list(mxfp8.forward_exchanges), ElementsAre(once, scatter, once, scatter));
    EXPECT_THAT(list(mxfp8.backward_exchanges), ElementsAre(twice, once, scatter, twice, once, scatter));
    cut.sequence_parallel = false;
    const std::pair sum{ExchangeKind::all_reduce, stream};
    EXPECT_THAT(list(cut.layer().forward_exchanges), ElementsAre(sum, sum));
}

// The kernel that runs after a call, and the one before it; empty at the ends.
std::pair<std::string, std::string> around(const std::vector<Kernel>& kernels, const ExchangeCall& call) {
    return {call.after > 0 ? kernels[call.after - 1].name : "", call.after < kernels.size() ? kernels[call.after].name : ""};
}

TEST(Exchanges, StandBetweenTheKernelsThatMakeAndReadWhatTheyCarry) {
    Cut cut;
    cut.tensor = 2;
    cut.sequence_parallel = true;
    const BlockKernels layer = cut.layer();
    const auto forward = [&](std::size_t i) { return around(layer.forward, layer.forward_exchanges[i]); };
    EXPECT_EQ(forward(0), std::pair("attention.norm"s, "attention.qkv"s));
    EXPECT_EQ(forward(1), std::pair("attention.proj"s, "attention.out"s));
    EXPECT_EQ(forward(2), std::pair("mlp.norm"s, "mlp.fc1"s));
    EXPECT_EQ(forward(3), std::pair("mlp.fc2"s, "mlp.drop"s));
    const auto backward = [&](std::size_t i) { return around(layer.backward, layer.backward_exchanges[i]); };
    EXPECT_EQ(backward(0), std::pair("mlp.drop"s, "mlp.fc2"s));  // leaving, seen from behind
    EXPECT_EQ(backward(1), std::pair("mlp.act"s, "mlp.fc1"s));   // the input once more
    EXPECT_EQ(backward(2), std::pair("mlp.fc1"s, "mlp.norm"s));  // its gradient
}

TEST(Exchanges, ThatGatherAnInputAgainServeWeightGradientsUnlessAttentionReadsIt) {
    const auto for_weights = [](const Cut& cut) {
        std::vector<bool> flags;
        for (const ExchangeCall& call : cut.layer().backward_exchanges) flags.push_back(call.weight_gradient);
        return flags;
    };
    Cut cut;
    cut.tensor = 2;
    cut.sequence_parallel = true;
    EXPECT_THAT(for_weights(cut), ElementsAre(false, true, false, false, true, false));
    Cut keys;
    keys.context = 2;  // keys and values gathered, their gradients scattered
    EXPECT_THAT(for_weights(keys), ElementsAre(false, false));
}

TEST(Exchanges, OfForwardAreMadeAgainByFullRecompute) {
    Cut cut;
    cut.tensor = 2;
    cut.plan.recompute = Recompute::full;
    const BlockKernels layer = cut.layer();
    EXPECT_EQ(list(layer.recompute_exchanges), list(layer.forward_exchanges));
    cut.plan.recompute = Recompute::selective;  // the core exchanges nothing
    EXPECT_THAT(cut.layer().recompute_exchanges, IsEmpty());
}

}  // namespace
}  // namespace sextant
