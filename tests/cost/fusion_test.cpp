#include "model/cost/fusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Ids = std::vector<TensorId>;

// One operator after the other over tensors of the same shape.
struct GraphSketch {
    OperatorGraphBuilder graph{};

    TensorId input(std::string name) { return graph.input(std::move(name), {8, 16}); }
    TensorId pointwise(std::string name, PointwiseKind kind, Ids inputs) {
        return add(std::move(name), Pointwise{kind, 128}, std::move(inputs));
    }
    TensorId add(std::string name, OperatorKind kind, Ids inputs) {
        Operator op;
        op.name = std::move(name);
        op.kind = kind;
        op.inputs = std::move(inputs);
        return graph.add(std::move(op), {8, 16});
    }
    OperatorGraph leave(TensorId out) {
        graph.output(out);
        return std::move(graph).build();
    }
};

std::vector<FusedChain> chains_of(const OperatorGraph& graph, Fusion fusion, bool fused_softmax = false) {
    Framework framework;
    framework.fusion = fusion;
    framework.fused_softmax = fused_softmax;
    return fuse(graph, framework, DataType::bf16, count_readers(graph));
}

TEST(Fusion, JoinsBiasAndGeluIntoOneKernelThatKeepsWhatGeluNeeds) {
    GraphSketch g;
    const TensorId x = g.input("x");
    const TensorId biased = g.pointwise("bias", PointwiseKind::bias, {x});
    const TensorId y = g.pointwise("gelu", PointwiseKind::gelu, {biased});
    const OperatorGraph graph = g.leave(y);

    const auto chains = chains_of(graph, Fusion::pointwise);
    ASSERT_THAT(chains, SizeIs(1));
    EXPECT_THAT(chains[0].operators, ElementsAre(0, 1));
    // x is read and y written. Backward of gelu reads its input: `biased` is written too, although nothing in forward reads it again.
    EXPECT_THAT(chains[0].inputs, ElementsAre(x));
    EXPECT_THAT(chains[0].outputs, ElementsAre(y));
    EXPECT_THAT(chains[0].saved, ElementsAre(biased));
    EXPECT_THAT(chains[0].kept, ElementsAre(biased));
}

TEST(Fusion, JoinsDropoutAndResidualAddAndKeepsTheMaskOnly) {
    GraphSketch g;
    const TensorId branch = g.input("branch"), residual = g.input("residual");
    const TensorId dropped = g.pointwise("dropout", PointwiseKind::dropout, {branch});
    const TensorId mask = g.graph.also("mask", {8, 16}, TensorRole::mask);
    const TensorId sum = g.pointwise("add", PointwiseKind::add, {residual, dropped});
    const OperatorGraph graph = g.leave(sum);

    const auto chains = chains_of(graph, Fusion::pointwise);
    ASSERT_THAT(chains, SizeIs(1));
    // `dropped` never reaches memory: its one reader is in the chain, and backward of an addition needs nothing.
    EXPECT_THAT(chains[0].inputs, ElementsAre(branch, residual));
    EXPECT_THAT(chains[0].outputs, ElementsAre(sum));
    EXPECT_THAT(chains[0].saved, ElementsAre(mask));
    EXPECT_THAT(chains[0].kept, ElementsAre(mask));
}

TEST(Fusion, JoinsScaleMaskAndSoftmaxWhereTheFrameworkHasThatKernelThoughItFusesNothingElse) {
    GraphSketch g;
    const TensorId scores = g.input("scores");
    const TensorId scaled = g.pointwise("scale", PointwiseKind::scale, {scores});
    const TensorId masked = g.pointwise("mask", PointwiseKind::mask, {scaled});
    const TensorId p = g.add("softmax", Softmax{.rows = 8, .width = 16}, {masked});
    const OperatorGraph graph = g.leave(p);

    EXPECT_THAT(chains_of(graph, Fusion::none), SizeIs(3));
    const auto chains = chains_of(graph, Fusion::none, true);
    ASSERT_THAT(chains, SizeIs(1));
    // Backward of softmax needs its output, which leaves anyway; the scaled and the masked scores are never written.
    EXPECT_THAT(chains[0].inputs, ElementsAre(scores));
    EXPECT_THAT(chains[0].outputs, ElementsAre(p));
    EXPECT_THAT(chains[0].saved, IsEmpty());
}

TEST(Fusion, WritesAnInnerTensorThatSomebodyOutsideTheChainReads) {
    GraphSketch g;
    const TensorId x = g.input("x");
    const TensorId biased = g.pointwise("bias", PointwiseKind::bias, {x});
    const TensorId y = g.pointwise("relu", PointwiseKind::relu, {biased});
    const TensorId normed = g.add("norm", Normalization{.kind = NormKind::layer, .rows = 8, .width = 16}, {biased});
    g.graph.output(y);
    const OperatorGraph graph = g.leave(normed);

    const auto chains = chains_of(graph, Fusion::pointwise);
    ASSERT_THAT(chains, SizeIs(2));  // bias + relu; the norm
    EXPECT_THAT(chains[0].outputs, ElementsAre(biased, y));
}

TEST(Fusion, OfACompilerCrossesNormalizationsAndNobodyCrossesAProduct) {
    GraphSketch g;
    const TensorId x = g.input("x");
    const TensorId a = g.pointwise("relu", PointwiseKind::relu, {x});
    const TensorId b = g.add("norm", Normalization{.kind = NormKind::layer, .rows = 8, .width = 16}, {a});
    const TensorId c = g.add("product", Gemm{.batch = 1, .m = 8, .n = 16, .k = 16}, {b});
    const TensorId d = g.pointwise("bias", PointwiseKind::bias, {c});
    const OperatorGraph graph = g.leave(d);

    EXPECT_THAT(chains_of(graph, Fusion::pointwise), SizeIs(4));
    const auto chains = chains_of(graph, Fusion::compiler);
    ASSERT_THAT(chains, SizeIs(3));
    EXPECT_THAT(chains[0].operators, ElementsAre(0, 1));
    // The norm's backward reads its input, the relu's its output: one tensor, kept once. The product reads what the norm wrote.
    EXPECT_THAT(chains[0].saved, ElementsAre(a));
    EXPECT_THAT(chains[0].outputs, ElementsAre(b));
}

TEST(Fusion, CountsABlockOutputAsOneMoreReader) {
    GraphSketch g;
    const TensorId x = g.input("x");
    const TensorId y = g.pointwise("relu", PointwiseKind::relu, {x});
    const TensorId z = g.pointwise("add", PointwiseKind::add, {x, y});
    const OperatorGraph graph = g.leave(z);
    EXPECT_THAT(count_readers(graph), ElementsAre(2, 1, 1));  // x: relu and add; y: add; z: the block after
}

}  // namespace
}  // namespace sextant
