// Times of operators, as a run is asked for them: each call of each operator is in them, and they are of the spans that the run traces.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::HasSubstr;

class ExecutorOperators : public MpiTest {
protected:
    [[nodiscard]] json timed(const json& workload, const json& plan) const { return train(workload, plan, {"--operators"}); }

    static double calls(const json& run, const std::string& name, const std::string& kind) {
        double sum = 0;
        for (const json& o : run["operators"])
            if (o["name"] == name && o["kind"] == kind) sum += o["calls"].get<double>();
        return sum;
    }
    // Of each kind of pass: operators are inside it, and with nothing to wait for they are most of it.
    static void expect_to_be_of_the_spans(const json& run) {
        std::map<std::string, double> of_operators, of_spans;
        for (const json& o : run["operators"]) {
            EXPECT_GE(o["time_s"].get<double>(), 0);
            of_operators[o["kind"]] += o["time_s"].get<double>();
        }
        const json& spans = run["trace"]["spans"];
        for (std::size_t i = 0; i < spans["kind"].size(); ++i)
            of_spans[spans["kind"][i]] += spans["end_s"][i].get<double>() - spans["start_s"][i].get<double>();
        for (const auto& [kind, time] : of_operators) {
            EXPECT_GT(time, 0) << kind;
            EXPECT_LE(time, of_spans[kind]) << kind;
        }
    }
};

// A global batch of eight in micro-batches of two: a rank alone runs each of the four layers four times.
TEST_F(ExecutorOperators, EachCallIsCounted) {
    const json run = timed(transformer(true), as_usual);
    ASSERT_FALSE(run.is_null());
    EXPECT_EQ(calls(run, "attention.qkv", "forward"), 16);
    EXPECT_EQ(calls(run, "attention.qkv", "backward"), 16);
    EXPECT_EQ(calls(run, "loss", "forward"), 4);
    EXPECT_GT(calls(run, "sums of gradients", "backward"), 0);
    expect_to_be_of_the_spans(run);
}

TEST_F(ExecutorOperators, RanksAndStagesAddUp) {
    const json run = timed(transformer(true), {{"dp", 2}, {"pp", 2}});
    ASSERT_FALSE(run.is_null());
    EXPECT_EQ(calls(run, "attention.qkv", "forward"), 16) << "each layer on one stage, each micro-batch on one replica";
    expect_to_be_of_the_spans(run);
}

TEST_F(ExecutorOperators, WhatRunsAgainAndGradientsOfWeightsStandApart) {
    const json again = timed(transformer(true), {{"recompute", "full"}});
    ASSERT_FALSE(again.is_null());
    EXPECT_EQ(calls(again, "attention.qkv", "recompute"), 16);
    expect_to_be_of_the_spans(again);
    const json apart = timed(transformer(true), {{"pp", 2}, {"schedule", "zero_bubble"}});
    ASSERT_FALSE(apart.is_null());
    EXPECT_EQ(calls(apart, "attention.qkv", "backward"), 16);
    EXPECT_EQ(calls(apart, "attention.qkv", "weight_gradient"), 16);
    expect_to_be_of_the_spans(apart);
}

TEST_F(ExecutorOperators, OfSelectiveRecomputeOnlyWhatThePlanNamesRunsAgain) {
    const json core = timed(transformer(true), {{"recompute", "selective"}, {"flash_attention", false}});
    ASSERT_FALSE(core.is_null());
    EXPECT_EQ(calls(core, "softmax", "recompute"), 16);
    EXPECT_EQ(calls(core, "attention.qkv", "recompute"), 0);
    const json activation = timed(transformer(true), {{"recompute", "selective"}, {"recompute_modules", {"mlp_act"}}});
    ASSERT_FALSE(activation.is_null());
    EXPECT_EQ(calls(activation, "mlp.act", "recompute"), 16);
    EXPECT_EQ(calls(activation, "mlp.fc1", "recompute"), 0);
}

TEST_F(ExecutorOperators, NobodyAsksNothingIsTimed) {
    const json run = train(perceptron(), as_usual);
    ASSERT_FALSE(run.is_null());
    EXPECT_FALSE(run.contains("operators"));
}

TEST_F(ExecutorOperators, GraphsHaveNoTimesOfThem) {
    EXPECT_THAT(start(perceptron(), {{"cuda_graph", true}}, 1, {"--operators"}), exits_with(2, HasSubstr("/plan/cuda_graph")));
}

}  // namespace
}  // namespace sextant
