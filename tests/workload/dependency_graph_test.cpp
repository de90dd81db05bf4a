#include "model/workload/dependency_graph.hpp"

#include "model/workload/builders.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(DependencyGraph, AnEdgeStandsForATensorThatOneOperatorWritesAndAnotherReads) {
    // x -> gelu -> (a) -> add, and x itself -> add: one edge, for x comes from outside.
    OperatorGraphBuilder builder;
    const TensorId x = builder.input("x", {4});
    const TensorId a = builder.add({.name = "gelu", .kind = Pointwise{PointwiseKind::gelu, 4}, .inputs = {x}}, {4});
    builder.output(builder.add({.name = "add", .kind = Pointwise{PointwiseKind::add, 4}, .inputs = {x, a}}, {4}));
    const DependencyGraph graph = dependency_graph(std::move(builder).build());
    ASSERT_EQ(boost::num_edges(graph), 1U);
    const auto edge = *boost::edges(graph).first;
    EXPECT_EQ(boost::source(edge, graph), 0U);
    EXPECT_EQ(boost::target(edge, graph), 1U);
    EXPECT_EQ(graph[edge].tensor, a);
}

TEST(DependencyGraph, OperatorsOfEveryBlockStandBehindWhatTheyReadFrom) {
    for (const char* name : {"gpt2", "llama-3-8b", "deepseek-v3", "bert-base", "t5-base", "vit-b16"}) {
        const Network network = build_transformer(std::get<TransformerSpec>(find_workload(name)->spec), {});
        for (const Block& block : network.templates) {
            const DependencyGraph graph = dependency_graph(block.graph);
            for (auto [edge, end] = boost::edges(graph); edge != end; ++edge)
                EXPECT_LT(boost::source(*edge, graph), boost::target(*edge, graph)) << name << ", " << block.name;
        }
    }
}

}  // namespace
}  // namespace sextant
