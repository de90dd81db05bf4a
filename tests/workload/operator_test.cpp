#include "model/workload/operator_graph.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

// Counts the pairs one by one, for a mask that lets query i of `queries`, the last ones of `keys`, see at most `window` keys up to its own.
double counted_pairs(int queries, int keys, int window) {
    double pairs = 0;
    for (int query = keys - queries; query < keys; ++query)
        for (int key = 0; key <= query; ++key)
            if (window == 0 || query - key < window) ++pairs;
    return pairs;
}

Attention causal(int queries, int keys, int window = 0) {
    Attention a;
    a.query_len = queries;
    a.key_len = keys;
    a.window = window;
    return a;
}

TEST(AttentionPairs, AreThoseThatTheMaskLeaves) {
    EXPECT_EQ(attention_pairs(causal(7, 7)), counted_pairs(7, 7, 0));
    EXPECT_EQ(attention_pairs(causal(7, 7, 3)), counted_pairs(7, 7, 3));
    EXPECT_EQ(attention_pairs(causal(7, 7, 9)), counted_pairs(7, 7, 9));
    EXPECT_EQ(attention_pairs(causal(3, 10)), counted_pairs(3, 10, 0));
    EXPECT_EQ(attention_pairs(causal(8, 10, 4)), counted_pairs(8, 10, 4));
}

TEST(AttentionPairs, WithoutAMaskEveryQuerySeesEveryKey) {
    Attention a = causal(5, 8);
    a.causal = false;
    EXPECT_EQ(attention_pairs(a), 40);
    a.window = 3;
    EXPECT_EQ(attention_pairs(a), 15);
}

TEST(AttentionPairs, BalancedContextRanksShareTheTriangleEvenly) {
    // 16 keys have 16 * 17 / 2 = 136 pairs; each of 4 ranks has a quarter of them.
    Attention a = causal(4, 16);
    a.balanced = true;
    EXPECT_EQ(attention_pairs(a), 34);
}

TEST(Flops, OfOneOfEach) {
    // 2 * batch * m * n * k = 2 * 3 * 5 * 7 * 11
    EXPECT_EQ(forward_flops(Gemm{.batch = 3, .m = 5, .n = 7, .k = 11}).si(), 2310);
    // Each of 6 pairs (three queries, causal) costs 2 * head_dim multiply-adds twice over: 2 * (4 + 2) * 6 pairs * 2 heads.
    Attention a = causal(3, 3);
    a.heads = 2;
    a.head_dim = 4;
    a.value_dim = 2;
    EXPECT_EQ(forward_flops(a).si(), 144);
    EXPECT_EQ(backward_flops(a).si(), 2.5 * 144);
    EXPECT_EQ(forward_flops(Softmax{.rows = 8, .width = 8}).si(), 0);
}

Operator exchange(TensorId in, ExchangeKind forward, bool regathered) {
    return {.name = "exchange", .kind = Exchange{.forward = forward, .elements = 8, .regathered = regathered}, .inputs = {in}};
}

Operator weight(TensorId in) { return {.name = "gemm", .kind = Gemm{.m = 8}, .inputs = {in}, .parameters = 1}; }

TEST(SavedForBackward, WhatIsGatheredAgainIsKeptCut) {
    for (const bool regathered : {false, true}) {
        OperatorGraphBuilder builder;
        const TensorId part = builder.input("part", {2});
        const TensorId whole = builder.add(exchange(part, ExchangeKind::all_gather, regathered), {8});
        builder.output(builder.add(weight(whole), {8}));
        const std::vector<TensorId> kept{regathered ? part : whole};
        EXPECT_EQ(saved_for_backward(std::move(builder).build()), kept);
    }
}

TEST(SavedForBackward, AnExchangeThatDoesNothingForwardMakesNoTensor) {
    OperatorGraphBuilder builder;
    const TensorId x = builder.input("x", {8});
    const TensorId same = builder.add(exchange(x, ExchangeKind::none, false), {8});
    builder.output(builder.add(weight(same), {8}));
    EXPECT_EQ(saved_for_backward(std::move(builder).build()), std::vector<TensorId>{x});
}

}  // namespace
}  // namespace sextant
