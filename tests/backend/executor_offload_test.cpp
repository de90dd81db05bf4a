// Plans that offload the optimizer, on an engine whose device has a memory of its own: masters and states lie in that of the host, whose
// cores update. They train what one rank trains without, to the tolerances of other plans.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::HasSubstr;

class ExecutorThatOffloads : public MpiTest {
protected:
    // Against one rank that offloads nothing, with `common` in all plans.
    void expect_the_same(const json& workload, std::vector<json> plans, const json& common = json::object(),
                         const std::vector<std::string>& arguments = {}) {
        for (json& plan : plans) {
            if (!plan.contains("offload")) plan["offload"] = "optimizer";
            plan.update(common);
        }
        expect_serial_results(workload, plans, common, arguments);
    }
    [[nodiscard]] static double of_rank(const json& run, const char* what) { return run["environment"]["ranks"][0].value(what, 0.0); }
};

// Without biases: the gradient of those of keys is nothing but what is rounded, and makes a step of Adam's like any other.
json plain_transformer() {
    json gpt = transformer(true);
    gpt["transformer"]["bias"] = false;
    return gpt;
}

json deep_perceptron() { return {{"mlp", {{"widths", {64, 512, 512, 512, 512, 512, 512, 512, 512, 10}}}}}; }

TEST_F(ExecutorThatOffloads, ComputesTheSameOnOneRank) {
    for (const char* optimizer : {"sgd", "momentum", "adam", "adamw", "lamb", "lion"})
        expect_the_same(plain_transformer(), {json::object()}, {{"optimizer", optimizer}});
    expect_the_same(perceptron(), {json::object(), {{"micro_batch", 4}}}, {{"optimizer", "adam"}});
}

TEST_F(ExecutorThatOffloads, ComputesTheSameInDataParallel) {
    expect_the_same(plain_transformer(),
                    {{{"dp", 2}},
                     {{"dp", 2}, {"micro_batch", 1}, {"reduce_every_micro_batch", true}},
                     {{"dp", 2}, {"data_parallel", "zero1"}},
                     {{"dp", 2}, {"data_parallel", "zero1"}, {"gather_overlap", true}},
                     {{"dp", 2}, {"data_parallel", "zero2"}, {"micro_batch", 1}},
                     {{"dp", 2}, {"data_parallel", "zero3"}},
                     {{"dp", 4}, {"data_parallel", "zero3"}, {"shard_group", 2}, {"gather_overlap", true}}},
                    {{"optimizer", "adam"}});
}

// Matrices that stages share, and gradients that ranks sum before the update.
TEST_F(ExecutorThatOffloads, ComputesTheSameInOtherDimensions) {
    expect_the_same(plain_transformer(), {{{"tp", 2}, {"sequence_parallel", true}},
                                          {{"pp", 2}, {"schedule", "zero_bubble"}},
                                          {{"cp", 2}, {"data_parallel", "zero1"}},
                                          {{"dp", 2}, {"pp", 2}, {"data_parallel", "zero2"}}});
    const json lamb{{"optimizer", "lamb"}};
    expect_the_same(plain_transformer(), {{{"dp", 2}, {"data_parallel", "zero3"}}, {{"tp", 2}, {"pp", 2}}}, lamb);
    json mixture = plain_transformer();
    mixture["transformer"]["moe"] = {{"experts", 4}, {"topk", 2}, {"ffn_hidden", 64}};
    expect_the_same(mixture, {{{"dp", 2}, {"ep", 2}}, {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero2"}}});
}

// Weights come up for each use: all of a block, or the shard that its rank has.
TEST_F(ExecutorThatOffloads, ComputesTheSameWithParametersInTheHostsMemoryToo) {
    const auto with = [](const json& more) {
        json plan{{"data_parallel", "zero3"}, {"offload", "optimizer_and_parameters"}};
        plan.update(more);
        return plan;
    };
    expect_the_same(
        plain_transformer(),
        {with(as_usual), with({{"micro_batch", 1}, {"recompute", "full"}}), with({{"dp", 2}}), with({{"dp", 4}, {"shard_group", 2}}),
         with({{"pp", 2}, {"schedule", "zero_bubble"}}), with({{"dp", 2}, {"pp", 2}}), with({{"dp", 2}, {"tp", 2}})},
        {{"optimizer", "adam"}});
    framework_ = {{"base", "sextant"}, {"reshards_after_forward", true}};
    expect_the_same(plain_transformer(), {with(as_usual), with({{"dp", 2}, {"micro_batch", 1}, {"reduce_every_micro_batch", true}})});
    json mixture = plain_transformer();
    mixture["transformer"]["moe"] = {{"experts", 4}, {"topk", 2}, {"ffn_hidden", 64}};
    expect_the_same(mixture, {with(as_usual), with({{"dp", 4}, {"ep", 2}})});
    json adapted = plain_transformer();
    adapted["transformer"]["adapters"] = {{"rank", 4}, {"alpha", 8}};
    expect_the_same(adapted, {with(as_usual), with({{"dp", 2}})});
    loss_tolerance_ = 2e-3;
    weight_tolerance_ = 2e-2;
    expect_the_same(plain_transformer(), {with(as_usual), with({{"dp", 2}})}, {{"precision", "bf16"}});
}

TEST_F(ExecutorThatOffloads, ClipsTheSame) {
    framework_ = {{"base", "sextant"}, {"clips_gradients", true}};
    expect_the_same(plain_transformer(), {json::object(), {{"dp", 2}, {"data_parallel", "zero2"}}}, {{"optimizer", "sgd"}},
                    {"--clip-norm", "0.1"});
}

// The host has masters and states, and rounds the weights that come up.
TEST_F(ExecutorThatOffloads, ComputesTheSameInSixteenBits) {
    for (const char* precision : {"bf16", "fp16"}) {
        loss_tolerance_ = precision == std::string("bf16") ? 2e-3 : 2e-4;
        weight_tolerance_ = 10 * loss_tolerance_;
        expect_the_same(transformer(true),
                        {json::object(), {{"dp", 2}, {"data_parallel", "zero1"}}, {{"dp", 2}, {"data_parallel", "zero3"}}},
                        {{"precision", precision}});
    }
}

// The loss begins 2^21 times as large as it is. Steps that are skipped leave weights, masters and states as they are.
TEST_F(ExecutorThatOffloads, LeavesStepsOut) {
    loss_tolerance_ = 2e-4;
    weight_tolerance_ = 2e-3;
    const std::vector<std::string> large{"--loss-scale", "2097152"};
    const json half{{"precision", "fp16"}, {"offload", "optimizer"}};
    expect_the_same(transformer(true), {json::object(), {{"dp", 2}, {"data_parallel", "zero2"}}}, {{"precision", "fp16"}}, large);
    const json run = train(transformer(true), half, large);
    ASSERT_FALSE(run.is_null());
    EXPECT_GT(run["loss_scale"]["skipped_steps"], 0);
    EXPECT_LT(run["loss_scale"]["skipped_steps"], 3);
}

// Two hundred steps: what is lost in one step is not lost for good, as updates go to the masters.
TEST_F(ExecutorThatOffloads, LearnsTheTask) {
    const json run = train(perceptron(), {{"precision", "bf16"}, {"optimizer", "adam"}, {"offload", "optimizer"}},
                           {"--steps", "200", "--learning-rate", "0.002"});
    ASSERT_FALSE(run.is_null());
    EXPECT_LT(run["losses"].back().get<double>(), 0.5 * 2.3);
}

// 64 x 512 + 512, seven times 512 x 512 + 512, 512 x 10 + 10: 1.877 million parameters. In fp32 with Adam a device has 16 bytes of each,
// 30.0 MB, and with offload the weight and the gradient alone, 15.0 MB; the host gradient, weight and states, 30.0 MB. In bf16 a device has
// 2 + 4 bytes of each, 11.3 MB, and the host what it had. With ZeRO-1 on two ranks a rank has half of the states, of the host's memory 15.0
// MB. Activations are two samples: nothing.
TEST_F(ExecutorThatOffloads, HoldsStatesInTheHostsMemory) {
    const auto expect_memory = [&](const json& plan, double device, double host) {
        json with{{"optimizer", "adam"}};
        with.update(plan);
        const json run = train(deep_perceptron(), with);
        ASSERT_FALSE(run.is_null());
        EXPECT_NEAR(of_rank(run, "peak_memory_bytes"), device, 0.4e6) << plan;
        EXPECT_NEAR(of_rank(run, "offloaded_bytes"), host, 0.1e6) << plan;
    };
    expect_memory(json::object(), 30.0e6, 0);
    expect_memory({{"offload", "optimizer"}}, 15.0e6, 30.0e6);
    expect_memory({{"offload", "optimizer"}, {"precision", "bf16"}}, 11.3e6, 30.0e6);
    expect_memory({{"offload", "optimizer"}, {"dp", 2}, {"data_parallel", "zero1"}}, 15.0e6, 15.0e6);
}

// Of the network above: gradients, 7.5 MB, and of one block weights, 1.05 MB, in bf16 half of these. The host has masters, gradients and
// states as before, and in bf16 the weights that go up, two bytes of each. Of two shards the rank has 3.75 MB of sums, and a whole gradient
// of a block.
TEST_F(ExecutorThatOffloads, HoldsParametersInTheHostsMemory) {
    framework_ = {{"base", "sextant"}, {"reshards_after_forward", true}};
    const json alone{{"offload", "optimizer_and_parameters"}, {"data_parallel", "zero3"}, {"optimizer", "adam"}};
    const auto with = [&](const json& more) {
        json plan = alone;
        plan.update(more);
        return train(deep_perceptron(), plan);
    };
    const json single = with(as_usual), half = with({{"precision", "bf16"}}), shards = with({{"dp", 2}});
    ASSERT_FALSE(single.is_null() || half.is_null() || shards.is_null());
    EXPECT_NEAR(of_rank(single, "peak_memory_bytes"), 8.6e6, 0.4e6);
    EXPECT_NEAR(of_rank(single, "offloaded_bytes"), 30.0e6, 0.1e6);
    EXPECT_NEAR(of_rank(half, "peak_memory_bytes"), 8.0e6, 0.4e6);
    EXPECT_NEAR(of_rank(half, "offloaded_bytes"), 33.8e6, 0.1e6);
    EXPECT_NEAR(of_rank(shards, "peak_memory_bytes"), 3.75e6 + 1.05e6 + 1.05e6, 0.2e6);
    EXPECT_NEAR(of_rank(shards, "offloaded_bytes"), 15.0e6, 0.1e6);
}

// One span of each rank's update, of the prediction's kind; the optimizer does nothing on the device.
TEST_F(ExecutorThatOffloads, TakesTheTimeThatIsPredictedAsOffload) {
    const json run = train(plain_transformer(), {{"dp", 2}, {"data_parallel", "zero1"}, {"offload", "optimizer"}});
    ASSERT_FALSE(run.is_null());
    SpansByKind found = spans_of(run), predicted = predicted_spans();
    EXPECT_EQ(predicted["offload"].count, 2);
    for (const char* kind : {"offload", "optimizer", "data_exchange"}) EXPECT_EQ(found[kind].count, predicted[kind].count) << kind;
    // Six blocks, whose weights come up for each forward of four micro-batches in pairs.
    const json parked = train(plain_transformer(), {{"data_parallel", "zero3"}, {"offload", "optimizer_and_parameters"}});
    ASSERT_FALSE(parked.is_null());
    EXPECT_EQ(predicted_spans()["offload"].count, 1 + 6 * 4);
    EXPECT_EQ(spans_of(parked)["offload"].count, 1 + 6 * 4);
}

TEST_F(ExecutorThatOffloads, ComputesTheSameWithGraphs) {
    const json plan{{"optimizer", "adam"}, {"offload", "optimizer"}};
    json captured = plan;
    captured["cuda_graph"] = true;
    const json without = train(transformer(true), plan, {"--steps", "12"}), with = train(transformer(true), captured, {"--steps", "12"});
    ASSERT_FALSE(without.is_null() || with.is_null());
    EXPECT_EQ(with["losses"], without["losses"]);
    EXPECT_EQ(with["parameters"], without["parameters"]);
}

TEST_F(ExecutorThatOffloads, RefusesWhatStaysOnTheDevice) {
    const auto refusal = [&](const json& plan) {
        const ProcessResult result = start(transformer(true), plan, 2);
        EXPECT_EQ(result.exit_code, 2) << plan;
        return result.err;
    };
    EXPECT_THAT(refusal({{"dp", 2}, {"data_parallel", "zero3"}, {"gather_overlap", true}, {"offload", "optimizer_and_parameters"}}),
                HasSubstr("/plan/gather_overlap: weights come from the host while nothing else goes on"));
    EXPECT_THAT(refusal({{"dp", 2}, {"offload_activations", true}}),
                HasSubstr("/plan/offload_activations: activations stay on the device"));
    framework_ = {{"base", "sextant"}, {"offloaded_gradients", "copied"}};
    EXPECT_THAT(refusal({{"dp", 2}, {"data_parallel", "zero1"}, {"offload", "optimizer"}}),
                HasSubstr("/framework: gradients go to the host with the update"));
}

}  // namespace
}  // namespace sextant
