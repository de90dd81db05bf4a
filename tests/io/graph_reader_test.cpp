// Networks that are written out operator by operator, and what is said of wrong ones.
#include "model/io/format/json_assignment.hpp"
#include "model/io/workload/workload_reader.hpp"
#include "model/io/workload/workload_writer.hpp"
#include "tests/io/read_back_workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using ::testing::HasSubstr;

// A perceptron of one hidden layer on eight numbers, whose block in between may be repeated.
constexpr const char* small = R"({
  "schema": "workload/1",
  "name": "small",
  "graph": {
    "blocks": [
      {"name": "hidden", "role": "input", "inputs": [{"name": "x", "shape": [1, 8]}],
       "operators": [
         {"name": "fc", "gemm": {"n": 16, "k": 8}, "of": ["x"], "makes": [[1, 16]], "parameters": 144},
         {"name": "drop", "pointwise": {"kind": "dropout", "constant": 0.5}, "of": ["fc"],
          "makes": [[1, 16], {"name": "mask", "shape": [1, 16], "role": "mask"}]}],
       "outputs": ["drop"]},
      {"name": "square", "role": "layer", "inputs": [{"name": "x", "shape": [1, 16]}],
       "operators": [
         {"name": "turn", "pointwise": {"kind": "copy", "order": [[4, 1], [4, 4]]}, "of": ["x"], "makes": [[1, 16]]},
         {"name": "fc", "gemm": {"n": 16, "k": 16}, "of": ["turn"], "makes": [[1, 16]], "parameters": 256},
         {"name": "act", "pointwise": {"kind": "relu"}, "of": ["fc"], "makes": [[1, 16]]}],
       "outputs": ["act"]},
      {"name": "head", "role": "head", "inputs": [{"name": "x", "shape": [1, 16]}, {"name": "labels", "shape": [1], "role": "index"}],
       "operators": [
         {"name": "out", "gemm": {"n": 4, "k": 16}, "of": ["x"], "makes": [[1, 4]], "parameters": 64},
         {"name": "loss", "cross_entropy": {"classes": 4}, "of": ["out", "labels"], "makes": [{"shape": [1], "role": "statistic"}]}],
       "outputs": ["loss"]}],
    "sequence": [0, [1, 3], 2]
  }
})";

std::pair<std::optional<Workload>, std::vector<Diagnostic>> graph_of_file(const std::string& text,
                                                                          const std::vector<std::string>& changes = {}) {
    auto document = nlohmann::ordered_json::parse(text);
    for (const std::string& change : changes) EXPECT_EQ(assign(document["graph"], change), "");
    Diagnostics diagnostics;
    const auto workload = read_workload_file(JsonFile::from_text(document.dump(), "net.json", diagnostics), find_workload);
    return {workload, diagnostics.list()};
}

TEST(GraphReader, ReadsBlocksAndTheirSequence) {
    const auto [workload, problems] = graph_of_file(small);
    ASSERT_TRUE(workload);
    const Network& network = std::get<GraphSpec>(workload->spec).network;
    EXPECT_EQ(network.sequence, (std::vector{0, 1, 1, 1, 2}));
    EXPECT_EQ(network.parameters(), 144 + 3 * 256 + 64);
    EXPECT_EQ(std::get<Pointwise>(network.templates[1].graph.operators()[2].kind).elements, 16) << "as many as it makes";
    expect_reads_back(*workload);
    const std::string written = write_workload(*workload);
    EXPECT_THAT(written, HasSubstr(R"({"name": "act", "pointwise": {"kind": "relu"}, "of": ["fc"], "makes": [[1, 16]]})"));
    EXPECT_THAT(written, HasSubstr(R"("sequence": [0, [1, 3], 2])"));
}

TEST(GraphReader, EveryFieldOfAnOperatorReadsBack) {
    auto [workload, problems] =
        graph_of_file(small, {R"(blocks.0.operators.0.label="mlp")", "blocks.0.operators.0.load=1.5", "blocks.0.operators.0.frozen=true",
                              "blocks.0.operators.0.attention_core=true", R"(blocks.0.operators.0.adapter="up")",
                              "blocks.0.operators.0.expert_parameters=true", R"(blocks.2.operators.0.shared="output")",
                              "blocks.2.operators.0.tied=true", R"(blocks.1.operators.1.stands_for="norms")",
                              R"(blocks.1.kept_for_writer=["x"])", R"(only_predicted="half of it is missing")"});
    ASSERT_TRUE(workload);
    const auto& spec = std::get<GraphSpec>(workload->spec);
    const Operator first = spec.network.templates[0].graph.operators()[0], tied = spec.network.templates[2].graph.operators()[0];
    EXPECT_EQ(first.label, "mlp");
    EXPECT_EQ(first.load, 1.5);
    EXPECT_TRUE(first.frozen && first.attention_core && first.expert_parameters && first.adapter == AdapterPart::up);
    EXPECT_EQ(spec.network.templates[1].graph.operators()[1].stands_for, "norms");
    EXPECT_TRUE(tied.tied && tied.shared == SharedMatrix::output);
    EXPECT_EQ(spec.network.templates[1].graph.kept_for_writer().size(), 1);
    EXPECT_EQ(std::get<GraphSpec>(expect_reads_back(*workload).spec).network, spec.network);
}

// Each gives exactly one problem, at this place below the graph, saying this.
struct Wrong {
    std::string change, pointer, fragment;
};
class WrongGraph : public testing::TestWithParam<Wrong> {};

TEST_P(WrongGraph, HasOneProblemWithItsPlaceAndReason) {
    const auto [workload, problems] = graph_of_file(small, {GetParam().change});
    EXPECT_FALSE(workload);
    ASSERT_EQ(problems.size(), 1) << (problems.empty() ? std::string() : InputError(problems).what());
    EXPECT_EQ(problems[0].pointer, "/graph" + GetParam().pointer);
    EXPECT_THAT(to_text(problems[0]), HasSubstr(GetParam().fragment));
}

INSTANTIATE_TEST_SUITE_P(
    Form, WrongGraph,
    testing::Values(Wrong{"blocks=[]", "/blocks", "at least one block"}, Wrong{"sequence=[]", "/sequence", "at least one block"},
                    Wrong{"sequence.0=3", "/sequence/0", "at most 2"}, Wrong{"sequence.1=[1, 99999]", "/sequence/1/1", "at most 10000"},
                    Wrong{"sequence.1=[1]", "/sequence/1", "[index, times]"},
                    Wrong{"blocks.0.operators.0.exchange={}", "/blocks/0/operators/0/exchange", "of one device"},
                    Wrong{"blocks.0.operators.0.softmax={}", "/blocks/0/operators/0", "exactly one kind"},
                    Wrong{"blocks.0.operators.0.gemm=null", "/blocks/0/operators/0", "exactly one kind"},
                    Wrong{"blocks.0.operators.0.gemm.q=8", "/blocks/0/operators/0/gemm/q", "unknown key"},
                    Wrong{"blocks.0.operators.0.gemm.k=0", "/blocks/0/operators/0/gemm/k", "at least 1"},
                    Wrong{"blocks.0.operators.0.gemm.k=1e10", "/blocks/0/operators/0/gemm/k", "at most 1000000000"},
                    Wrong{"blocks.0.operators.0.parameters=1.5", "/blocks/0/operators/0", "no whole number"},
                    Wrong{"blocks.0.operators.0.parameters=-1", "/blocks/0/operators/0/parameters", "at least 0"},
                    Wrong{"blocks.0.operators.1.makes.1.role=\"mist\"", "/blocks/0/operators/1/makes/1/role", "did you mean \"mask\""},
                    Wrong{"blocks.2.kept_for_writer=[\"out\"]", "/blocks/2/kept_for_writer", "no input"},
                    Wrong{"blocks.2.outputs=[]", "/blocks/2", "hands something on"},
                    Wrong{"blocks.2.outputs=[\"los\"]", "/blocks/2/outputs/0", "did you mean \"loss\""}));
INSTANTIATE_TEST_SUITE_P(
    Tensors, WrongGraph,
    testing::Values(
        Wrong{"blocks.1.operators.1.of=[\"act\"]", "/blocks/1/operators/1/of/0", "not known"},
        Wrong{"blocks.0.operators.1.makes.1.name=\"fc\"", "/blocks/0/operators/1/makes/1", "called \"fc\" already"},
        Wrong{"blocks.1.operators.1.of=[]", "/blocks/1/operators/1", "reads 1 tensor, not 0"},
        Wrong{"blocks.1.operators.1.gemm.k=8", "/blocks/1/operators/1", "\"turn\" has 16 elements, where batch x m x k are 8"},
        Wrong{"blocks.1.operators.1.gemm.n=8", "/blocks/1/operators/1", "what it makes has 16 elements, where batch x m x n are 8"},
        Wrong{"blocks.1.operators.0.pointwise.order=[[4, 1], [4, 5]]", "/blocks/1/operators/0", "behind the end of what it reads"},
        Wrong{"blocks.1.operators.0.pointwise.order=[[4, 1], [4, 4, 4]]", "/blocks/1/operators/0", "starts behind its end"},
        Wrong{"blocks.1.operators.0.pointwise.order=[[4, 1]]", "/blocks/1/operators/0", "extents of its order multiplied are 4"},
        Wrong{"blocks.0.operators.1.makes.0=[16]", "/sequence", "block 0 hands on other tensors than block 1 behind it reads"},
        Wrong{"blocks.1.operators.2.makes=[[1000000, 1000000, 1000000]]", "/blocks/1/operators/2/makes/0",
              "more elements than any network"}));

TEST(GraphReader, TellsAllProblemsAtOnce) {
    const auto [workload, problems] = graph_of_file(
        small, {"blocks.0.operators.0.gemm.k=4", "blocks.1.operators.1.of=[\"tun\"]", "blocks.2.operators.1.cross_entropy.classes=5"});
    EXPECT_EQ(problems.size(), 3) << InputError(problems).what();
}

TEST(GraphReader, WindowsFit) {
    const auto windows = [](const std::string& sizes) {
        const std::string text = R"({"schema": "workload/1", "graph": {"sequence": [0], "blocks": [{
            "inputs": [{"name": "x", "shape": [1, 3, 8, 8]}], "outputs": ["conv"], "operators": [
            {"name": "conv", "convolution": )" +
                                 sizes + R"(, "of": ["x"], "makes": [[1, 4, 4, 4]]}]}]}})";
        const auto [workload, problems] = graph_of_file(text);
        return problems.empty() ? std::string() : problems.front().what;
    };
    const std::string same = R"("in_channels": 3, "out_channels": 4, "in_h": 8, "in_w": 8, "out_h": 4, "out_w": 4)";
    EXPECT_EQ(windows("{" + same + R"(, "kernel_h": 3, "kernel_w": 3, "stride": 2, "padding_h": 1, "padding_w": 1})"), "");
    EXPECT_THAT(windows("{" + same + R"(, "kernel_h": 3, "kernel_w": 3, "stride": 3, "padding_h": 1, "padding_w": 1})"),
                HasSubstr("begins behind the last"));
    EXPECT_THAT(windows("{" + same + R"(, "kernel_h": 3, "kernel_w": 3, "padding_h": 1, "padding_w": 1})"), HasSubstr("room for one more"));
    EXPECT_THAT(windows("{" + same + R"(, "stride": 2, "padding_h": 1, "padding_w": 1})"), HasSubstr("in the padding alone"));
    EXPECT_THAT(windows("{" + same + R"(, "groups": 2, "stride": 2})"), HasSubstr("groups"));
}

}  // namespace
}  // namespace sextant
