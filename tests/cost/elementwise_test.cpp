// How much arithmetic the operators are that are no products, counted in exponentials: docs/model/compute.md, "Functions on a core".
#include "model/cost/elementwise.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(ElementwiseWork, OfAFunctionIsItsElementsTimesWhatEachTakes) {
    const Pointwise gelu{.kind = PointwiseKind::gelu, .elements = 1000};
    EXPECT_DOUBLE_EQ(elementwise_work(gelu, false), 1600);
    EXPECT_DOUBLE_EQ(elementwise_work(gelu, true), 1700);
    const Pointwise gate{.kind = PointwiseKind::gate, .elements = 1000};
    EXPECT_DOUBLE_EQ(elementwise_work(gate, false), 3000);
    EXPECT_DOUBLE_EQ(elementwise_work(gate, true), 7000);
    EXPECT_DOUBLE_EQ(elementwise_work(Normalization{.kind = NormKind::layer, .rows = 10, .width = 64}, false), 10 * 64 * 1.6);
    EXPECT_DOUBLE_EQ(elementwise_work(Normalization{.kind = NormKind::rms, .rows = 10, .width = 64}, false), 10 * 64 * 1.2);
    const Normalization gated{.kind = NormKind::rms, .rows = 10, .width = 64, .gated = true};
    EXPECT_DOUBLE_EQ(elementwise_work(gated, false), 10 * 64 * (1.2 + 2));
    EXPECT_DOUBLE_EQ(elementwise_work(gated, true), 10 * 64 * (2.5 + 4.6));
    const SequenceConvolution convolution{.batch = 2, .sequence = 8, .channels = 16, .kernel = 4};  // SiLU and four taps
    EXPECT_DOUBLE_EQ(elementwise_work(convolution, false), 2 * 8 * 16 * (1.5 + 4 * 0.5));
    EXPECT_DOUBLE_EQ(elementwise_work(convolution, true), 2 * 8 * 16 * (2 + 4 * 1.6));
    EXPECT_DOUBLE_EQ(elementwise_work(CrossEntropy{.rows = 8, .classes = 100}, true), 8 * 100 * 3.2);
}

TEST(ElementwiseWork, OfFusedAttentionIsThatOfItsScores) {
    // Two heads of 4 queries, a block that sees 4 keys: 32 scores, of which 20 count.
    const Attention a{.batch = 1, .heads = 2, .kv_heads = 2, .query_len = 4, .key_len = 4, .head_dim = 8, .value_dim = 8};
    EXPECT_DOUBLE_EQ(elementwise_work(a, false), 32 * 2.2);
    EXPECT_DOUBLE_EQ(elementwise_work(a, true), 32 * 1.1);
}

TEST(ElementwiseWork, OfFusedAttentionIsDoneByBlocksOfQueries) {
    Attention a{.batch = 1, .heads = 1, .kv_heads = 1, .query_len = 96, .key_len = 96, .head_dim = 8, .value_dim = 8};
    EXPECT_DOUBLE_EQ(computed_scores(a) * attention_pairs(a), 64 * 64 + 32 * 96);
    a.key_len = 128;  // 32 keys came before the first query
    EXPECT_DOUBLE_EQ(computed_scores(a) * attention_pairs(a), 64 * 96 + 32 * 128);
    a.window = 32;  // the first query of a block sees 31 keys before it
    EXPECT_DOUBLE_EQ(computed_scores(a) * attention_pairs(a), 64 * (31 + 64) + 32 * (31 + 32));
    a.causal = false;
    EXPECT_DOUBLE_EQ(computed_scores(a), 1);
    // Two ranks of a context group: of 192 positions one has the first 48 and the last, the other those between.
    a = {.batch = 1, .query_len = 96, .key_len = 192, .balanced = true};
    EXPECT_DOUBLE_EQ(computed_scores(a) * attention_pairs(a), 48 * 48 + 48 * 192);
    EXPECT_DOUBLE_EQ(computed_scores(a) * attention_pairs(a), 48 * 96 + 48 * 144);
}

TEST(ElementwiseWork, OfWhatOnlyMovesOrMultipliesIsNothing) {
    EXPECT_EQ(elementwise_work(Pointwise{.kind = PointwiseKind::add, .elements = 1000}, false), 0);
    EXPECT_EQ(elementwise_work(Pointwise{.kind = PointwiseKind::relu, .elements = 1000}, true), 0);
    EXPECT_EQ(elementwise_work(Gemm{.m = 10, .n = 10, .k = 10}, false), 0);
}

}  // namespace
}  // namespace sextant
