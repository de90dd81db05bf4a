// How much arithmetic the operators are that are no products, counted in exponentials: docs/model/compute.md, "Functions on a core".
#include "model/cost/elementwise.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(ElementwiseWork, OfAFunctionIsItsElementsTimesWhatEachTakes) {
    const Pointwise gelu{.kind = PointwiseKind::gelu, .elements = 1000};
    EXPECT_DOUBLE_EQ(elementwise_work(gelu, false), 1600);
    EXPECT_DOUBLE_EQ(elementwise_work(gelu, true), 1700);
    EXPECT_DOUBLE_EQ(elementwise_work(Normalization{.kind = NormKind::layer, .rows = 10, .width = 64}, false), 10 * 64 * 10);
    EXPECT_DOUBLE_EQ(elementwise_work(CrossEntropy{.rows = 8, .classes = 100}, true), 8 * 100 * 7);
}

TEST(ElementwiseWork, OfFusedAttentionIsThatOfItsScores) {
    // Two heads of 4 queries that see 1, 2, 3 and 4 keys: 20 scores.
    const Attention a{.batch = 1, .heads = 2, .kv_heads = 2, .query_len = 4, .key_len = 4, .head_dim = 8, .value_dim = 8};
    EXPECT_DOUBLE_EQ(elementwise_work(a, false), 20 * 4.0);
    EXPECT_DOUBLE_EQ(elementwise_work(a, true), 20 * 2.0);
}

TEST(ElementwiseWork, OfWhatOnlyMovesOrMultipliesIsNothing) {
    EXPECT_EQ(elementwise_work(Pointwise{.kind = PointwiseKind::add, .elements = 1000}, false), 0);
    EXPECT_EQ(elementwise_work(Pointwise{.kind = PointwiseKind::relu, .elements = 1000}, true), 0);
    EXPECT_EQ(elementwise_work(Gemm{.m = 10, .n = 10, .k = 10}, false), 0);
}

}  // namespace
}  // namespace sextant
