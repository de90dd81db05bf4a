#include "model/workload/builders.hpp"
#include "tests/base/refusal.hpp"
#include "tests/workload/network_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;

TEST(Mlp, HasTheParametersOperationsAndSavedTensorsThatOneCountsByHand) {
    // 784 -> 4096 -> 4096 -> 10. Weights and biases: 784*4096 + 4096 = 3,215,360; 4096*4096 + 4096 = 16,781,312; 4096*10 + 10 = 40,970.
    // Operations of 32 samples: each weight is multiplied and added once, 2 * 32 * (784*4096 + 4096*4096 + 4096*10) = 1,281,884,160.
    // Saved: the data and the two outputs of ReLU, which are what the layers behind them read.
    const Network network = build_mlp({}, {.micro_batch = 32});
    EXPECT_EQ(network.parameters(), 3'215'360 + 16'781'312 + 40'970);
    EXPECT_EQ(sum_forward_flops(network) / FLOP, 1'281'884'160);
    EXPECT_EQ(sum_saved_elements(network), 32 * (784 + 4096 + 4096));
}

TEST(Mlp, EqualLayersShareATemplate) {
    const Network network = build_mlp({.widths = {512, 512, 512, 512, 512, 10}}, {});
    EXPECT_EQ(network.sequence.size(), 5);
    EXPECT_EQ(network.templates.size(), 3);  // the first, which reads the data; three equal ones; the head
}

TEST(Mlp, TensorParallelismSumsBehindEverySecondLayer) {
    const Network network = build_mlp({.widths = {784, 4096, 4096, 4096, 10}}, {.micro_batch = 32, .tensor = 2});
    const auto exchanges = [&](std::size_t block) { return operators_of<Exchange>(graph_at(network, block)); };
    // The first layer is cut by output; the data wants no gradient. The second is cut by input: its output is summed.
    EXPECT_TRUE(exchanges(0).empty());
    ASSERT_EQ(exchanges(1).size(), 1);
    EXPECT_EQ(exchanges(1)[0].forward, ExchangeKind::all_reduce);
    EXPECT_EQ(exchanges(1)[0].backward, ExchangeKind::none);
    EXPECT_EQ(exchanges(1)[0].elements, 32 * 4096);
    // The third is cut by output again: the gradient of what it reads is summed.
    ASSERT_EQ(exchanges(2).size(), 1);
    EXPECT_EQ(exchanges(2)[0].forward, ExchangeKind::none);
    EXPECT_EQ(exchanges(2)[0].backward, ExchangeKind::all_reduce);
    // The head is cut by input; every device has the summed logits.
    ASSERT_EQ(exchanges(3).size(), 1);
    EXPECT_EQ(exchanges(3)[0].elements, 32 * 10);
}

TEST(Mlp, TensorParallelismSavesNoTensorTwice) {
    // The data whole, the outputs of the first and the third ReLU by halves, that of the second whole.
    const Network network = build_mlp({.widths = {784, 4096, 4096, 4096, 10}}, {.micro_batch = 32, .tensor = 2});
    EXPECT_EQ(sum_saved_elements(network), 32 * (784 + 4096 / 2 + 4096 + 4096 / 2));
}

TEST(Mlp, EveryImpossibleChoiceIsReported) {
    EXPECT_THAT(refused_pointers([] { build_mlp({.widths = {0}, .activation = PointwiseKind::add}, {.expert = 2}); }),
                ElementsAre("/plan/ep", "/workload/mlp/widths", "/workload/mlp/widths/0", "/workload/mlp/activation"));
    EXPECT_THAT(refused_pointers([] { build_mlp({.widths = {784, 100, 10}}, {.tensor = 3}); }), ElementsAre("/plan/tp"));
}

}  // namespace
}  // namespace sextant
