// How much arithmetic the operators are that are no products, counted in exponentials: docs/model/compute.md, "Functions on a core".
#include "model/cost/elementwise.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(ElementwiseWork, OfAFunctionIsItsElementsTimesWhatEachTakes) {
    const Pointwise gelu{.kind = PointwiseKind::gelu, .elements = 1000};
    EXPECT_DOUBLE_EQ(elementwise_work(gelu, false), 3500);
    EXPECT_DOUBLE_EQ(elementwise_work(gelu, true), 4500);
    EXPECT_DOUBLE_EQ(elementwise_work(Normalization{.kind = NormKind::layer, .rows = 10, .width = 64}, false), 10 * 64 * 7);
    EXPECT_DOUBLE_EQ(elementwise_work(CrossEntropy{.rows = 8, .classes = 100}, true), 8 * 100 * 2);
}

TEST(ElementwiseWork, OfFusedAttentionIsThatOfItsScores) {
    // Two heads of 4 queries that see 1, 2, 3 and 4 keys: 20 scores; forward a softmax, backward that once more and its gradient.
    const Attention a{.batch = 1, .heads = 2, .kv_heads = 2, .query_len = 4, .key_len = 4, .head_dim = 8, .value_dim = 8};
    EXPECT_DOUBLE_EQ(elementwise_work(a, false), 20 * 2.5);
    EXPECT_DOUBLE_EQ(elementwise_work(a, true), 20 * 3.5);
}

TEST(ElementwiseWork, OfWhatOnlyMovesOrMultipliesIsNothing) {
    EXPECT_EQ(elementwise_work(Pointwise{.kind = PointwiseKind::add, .elements = 1000}, false), 0);
    EXPECT_EQ(elementwise_work(Pointwise{.kind = PointwiseKind::relu, .elements = 1000}, true), 0);
    EXPECT_EQ(elementwise_work(Gemm{.m = 10, .n = 10, .k = 10}, false), 0);
    EXPECT_EQ(update_work(Optimizer::sgd), 0);
    EXPECT_GT(update_work(Optimizer::adam), 0);
}

}  // namespace
}  // namespace sextant
