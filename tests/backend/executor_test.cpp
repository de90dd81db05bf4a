// The executor as it is used: processes under mpirun, which train small networks for a few steps. Every plan computes what one rank
// computes with the same batch: losses to 1e-5, and of every weight tensor the norm and the product with a drawn vector to 1e-5 of the
// norm. (Seen are 1e-7 and 1e-6: sums in another order.)
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include <sys/mman.h>

namespace sextant {
namespace {

using testing::HasSubstr;

using Executor = MpiTest;

json images() {
    return {{"chain",
             {{"input_shape", {3, 8, 8}},
              {"layers",
               {{{"conv", {{"width", 8}, {"kernel", 3}}}},
                {{"norm", "batch"}},
                {{"activation", "gelu"}},
                {{"conv", {{"width", 16}, {"kernel", 3}, {"stride", 2}}}},
                {{"norm", "batch"}},
                {{"activation", "gelu"}},
                {{"pool", "global_average"}}}},
              {"classes", 10}}}};
}

// Layers that read several others: a shortcut, and a gate of averages.
json wired(const char* shortcut) {
    const int channels = std::string_view(shortcut) == "concat" ? 16 : 8;
    return {{"chain",
             {{"input_shape", {3, 8, 8}},
              {"layers",
               {{{"conv", {{"width", 8}, {"kernel", 3}}}, {"name", "stem"}},
                {{"activation", "gelu"}},
                {{"conv", {{"width", 8}, {"kernel", 5}, {"padding", 2}}}, {"name", "y"}},
                {{shortcut, json::object()}, {"from", {"y", "stem"}}, {"name", "x"}},
                {{"pool", "global_average"}},
                {{"conv", {{"width", channels}, {"kernel", 1}}}},
                {{"activation", "sigmoid"}, {"name", "factor"}},
                {{"multiply", json::object()}, {"from", {"x", "factor"}}},
                {{"conv", {{"width", 16}, {"kernel", 1}, {"kernel_w", 3}, {"stride", 2}}}},
                {{"norm", "batch"}},
                {{"activation", "gelu"}},
                {{"pool", "global_average"}}}},
              {"classes", 10}}}};
}

// An encoder and its decoder, which says of each pixel what it is. What goes from one to the other passes a stage of a pipeline.
json encoder_and_decoder() {
    const auto conv = [](int width) { return json{{"conv", {{"width", width}, {"kernel", 3}, {"dilation", 2}}}}; };
    const json gelu{{"activation", "gelu"}}, halve{{"pool", {{"kind", "average"}, {"kernel", 2}}}};
    const auto up = [](const char* name) {
        return json{{"conv", {{"width", 8}, {"kernel", 2}, {"stride", 2}, {"transposed", true}}}, {"name", name}};
    };
    const auto named = [](json layer, const char* name) {
        layer["name"] = name;
        return layer;
    };
    const auto join = [](const char* a, const char* b) { return json{{"concat", json::object()}, {"from", {a, b}}}; };
    const json larger{{"upsample", {{"factor", 2}, {"kind", "bilinear"}}}, {"name", "top"}};
    return {{"chain",
             {{"input_shape", {3, 8, 8}},
              {"layers",
               {conv(8), named(gelu, "large"), halve, conv(8), named(gelu, "middle"), halve, conv(16), gelu, up("up"), join("middle", "up"),
                conv(8), gelu, larger, join("large", "top"), conv(8), gelu}},
              {"classes", 4},
              {"per_pixel", true}}}};
}

TEST_F(Executor, ComputesTheSameOfPixels) {
    expect_serial_results(encoder_and_decoder(), {{{"dp", 2}},
                                                  {{"dp", 2}, {"data_parallel", "zero3"}},
                                                  {{"dp", 2}, {"recompute", "full"}},
                                                  {{"pp", 2}},
                                                  {{"pp", 4}, {"schedule", "1f1b"}},
                                                  {{"pp", 2}, {"dp", 2}, {"schedule", "zero_bubble"}}});
}

TEST_F(Executor, ComputesTheSameInDataParallel) {
    expect_serial_results(transformer(true),
                          {{{"dp", 2}},
                           {{"dp", 4}},
                           {{"dp", 2}, {"gradient_overlap", false}},
                           {{"dp", 2}, {"reduce_every_micro_batch", true}},
                           {{"dp", 2}, {"data_parallel", "zero2"}, {"micro_batch", 1}, {"reduce_every_micro_batch", false}},
                           {{"dp", 2}, {"recompute", "full"}}});
    expect_serial_results(transformer(false),
                          {{{"dp", 2}, {"data_parallel", "zero3"}, {"micro_batch", 1}, {"reduce_every_micro_batch", false}},
                           {{"dp", 2}, {"data_parallel", "zero3"}, {"gather_overlap", true}, {"gradient_overlap", false}}});
    // Written out, scores have a dropout of their own.
    expect_serial_results(transformer(true), {{{"dp", 2}, {"flash_attention", false}, {"recompute", "selective"}}},
                          {{"flash_attention", false}});
}

TEST_F(Executor, ComputesTheSameInTensorParallel) {
    expect_serial_results(transformer(true),
                          {{{"tp", 2}}, {{"tp", 2}, {"sequence_parallel", true}}, {{"tp", 4}, {"sequence_parallel", true}}});
}

json with(json workload, const json& more) {
    workload["transformer"].update(more);
    return workload;
}

TEST_F(Executor, ComputesTheSameInContextParallel) {
    expect_serial_results(transformer(true), {{{"cp", 4}, {"micro_batch", 1}},
                                              {{"cp", 2}, {"tp", 2}, {"sequence_parallel", true}, {"data_parallel", "zero1"}},
                                              {{"cp", 2}, {"pp", 2}, {"schedule", "zero_bubble"}},
                                              {{"cp", 2}, {"dp", 2}, {"recompute", "full"}, {"reduce_every_micro_batch", true}}});
    expect_serial_results(transformer(true), {{{"cp", 2}, {"flash_attention", false}, {"recompute", "selective"}}},
                          {{"flash_attention", false}});
    // Two key-value heads, so each is on two ranks of four.
    const json llama = with(transformer(false), {{"position", "rotary"}, {"kv_heads", 2}, {"norm", "rms"}, {"bias", false}});
    expect_serial_results(llama, {{{"cp", 2}, {"tp", 4}, {"sequence_parallel", true}, {"micro_batch", 1}},
                                  {{"cp", 2}, {"dp", 2}, {"data_parallel", "zero3"}},
                                  {{"cp", 2}, {"pp", 2}, {"vpp", 2}, {"schedule", "interleaved"}, {"data_parallel", "zero2"}}});
    expect_serial_results(with(transformer(true), {{"sliding_window", 5}}), {{{"cp", 2}}});
    // Not causal: a slice for each rank.
    const json bert = with(transformer(true), {{"kind", "encoder"}, {"head", "masked_lm_nsp"}, {"type_vocab", 2}, {"predicted_tokens", 4}});
    expect_serial_results(bert, {{{"cp", 4}}, {{"cp", 2}, {"tp", 2}, {"sequence_parallel", true}}});
}

// Keys and values, and gradients, which context ranks sum like data-parallel ones.
TEST_F(Executor, ExchangesInContextParallelWhatIsPredicted) {
    const json run = train(transformer(true), {{"cp", 2}, {"dp", 2}});
    ASSERT_FALSE(run.is_null());
    SpansByKind found = spans_of(run), predicted = predicted_spans();
    for (const char* kind : {"context_exchange", "data_exchange"}) {
        EXPECT_GT(predicted[kind].bytes, 0) << kind;
        EXPECT_EQ(found[kind].bytes, predicted[kind].bytes) << kind;
        EXPECT_EQ(found[kind].count, predicted[kind].count) << kind;
    }
    // Between exchanges, one span of each stretch of kernels.
    for (const char* kind : {"forward", "backward"}) EXPECT_EQ(found[kind].count, predicted[kind].count) << kind;
}

TEST_F(Executor, ComputesTheSameInAPipeline) {
    expect_serial_results(transformer(true), {{{"pp", 2}},
                                              {{"pp", 2}, {"pipeline_overlap", true}},
                                              {{"pp", 2}, {"schedule", "gpipe"}},
                                              {{"pp", 3}, {"schedule", "1f1b"}},
                                              {{"pp", 2}, {"vpp", 2}, {"schedule", "interleaved"}},
                                              {{"pp", 2}, {"micro_batch", 2}, {"recompute", "full"}}});
}

TEST_F(Executor, ComputesTheSameWithoutBubbles) {
    expect_serial_results(transformer(true), {{{"pp", 2}, {"schedule", "zero_bubble"}},
                                              {{"pp", 3}, {"schedule", "zero_bubble"}, {"recompute", "full"}},
                                              {{"dp", 2}, {"pp", 2}, {"schedule", "zero_bubble"}},
                                              {{"dp", 2}, {"schedule", "zero_bubble"}, {"reduce_every_micro_batch", true}},
                                              {{"tp", 2}, {"pp", 2}, {"schedule", "zero_bubble"}, {"sequence_parallel", true}}});
    expect_serial_results(transformer(false), {{{"dp", 2}, {"pp", 2}, {"schedule", "zero_bubble"}, {"data_parallel", "zero3"}},
                                               {{"dp", 2}, {"pp", 2}, {"schedule", "zero_bubble"}, {"data_parallel", "zero2"}}});
    expect_serial_results(images(), {{{"pp", 2}, {"schedule", "zero_bubble"}}});
}

// Each rank of a tensor group hands on its part of what all of them have.
TEST_F(Executor, ComputesTheSameWithBoundariesThatAreCut) {
    framework_ = {{"base", "sextant"}, {"scatters_pipeline", true}};
    expect_serial_results(transformer(true), {{{"pp", 2}, {"tp", 2}},
                                              {{"pp", 2}, {"tp", 2}, {"pipeline_overlap", true}},
                                              {{"pp", 2}, {"tp", 2}, {"sequence_parallel", true}},
                                              {{"pp", 2}, {"tp", 2}, {"vpp", 2}, {"schedule", "interleaved"}},
                                              {{"pp", 2}, {"tp", 2}, {"schedule", "zero_bubble_v"}},
                                              {{"pp", 2}, {"tp", 2}, {"dp", 2}, {"data_parallel", "zero1"}}});
    const json run = train(transformer(false), {{"pp", 2}, {"tp", 2}});
    ASSERT_FALSE(run.is_null());
    SpansByKind found = spans_of(run), predicted = predicted_spans();
    EXPECT_GT(predicted["pipeline_transfer"].bytes, 0);
    EXPECT_NEAR(found["pipeline_transfer"].bytes, predicted["pipeline_transfer"].bytes, 1e-6);
    EXPECT_EQ(found["pipeline_transfer"].count, predicted["pipeline_transfer"].count);
}

TEST_F(Executor, ComputesTheSameInAPipelineThatTurnsBack) {
    expect_serial_results(transformer(true), {{{"pp", 2}, {"schedule", "zero_bubble_v"}},
                                              {{"pp", 2}, {"schedule", "dual_pipe_v"}, {"pipeline_overlap", true}},
                                              {{"pp", 3}, {"schedule", "zero_bubble_v"}, {"recompute", "full"}},
                                              {{"pp", 3}, {"schedule", "dual_pipe_v"}},
                                              {{"dp", 2}, {"pp", 2}, {"schedule", "zero_bubble_v"}, {"reduce_every_micro_batch", true}},
                                              {{"dp", 2}, {"pp", 2}, {"schedule", "dual_pipe_v"}, {"data_parallel", "zero2"}},
                                              {{"tp", 2}, {"pp", 2}, {"schedule", "zero_bubble_v"}, {"sequence_parallel", true}}});
    expect_serial_results(transformer(false), {{{"dp", 2}, {"pp", 2}, {"schedule", "dual_pipe_v"}, {"data_parallel", "zero3"}}});
    json deep = images();
    deep["chain"]["layers"].push_back({{"dense", {{"width", 16}}}});
    expect_serial_results(deep, {{{"pp", 2}, {"schedule", "zero_bubble_v"}}});
}

// A backward in two parts does the same work.
TEST_F(Executor, WorksOnWeightsApart) {
    const auto flops = [](const json& run) {
        std::map<std::string, double> sums;
        for (std::size_t i = 0; i < run["trace"]["spans"]["kind"].size(); ++i)
            sums[run["trace"]["spans"]["kind"][i]] += run["trace"]["spans"]["flops"][i].get<double>();
        return sums;
    };
    auto whole = flops(train(transformer(true), {{"pp", 2}})),
         parts = flops(train(transformer(true), {{"pp", 2}, {"schedule", "zero_bubble"}}));
    EXPECT_EQ(whole["weight_gradient"], 0);
    EXPECT_GT(parts["weight_gradient"], 0);
    EXPECT_GT(parts["backward"], parts["weight_gradient"]) << "attention has no weights";
    EXPECT_NEAR(parts["backward"] + parts["weight_gradient"], whole["backward"], 1e-9 * whole["backward"]);
}

// To a norm that all gradients here exceed.
TEST_F(Executor, ClipsTheSameHoweverGradientsAreCut) {
    const json sgd{{"optimizer", "sgd"}};
    const json unclipped = train(transformer(true), sgd);
    framework_ = {{"base", "sextant"}, {"clips_gradients", true}};
    const std::vector<std::string> clip{"--clip-norm", "0.1"};
    const json clipped = train(transformer(true), sgd, clip);
    EXPECT_GT(clipped["losses"][2].get<double>(), unclipped["losses"][2].get<double>() + 1e-3) << "it learns as before";
    expect_serial_results(transformer(true),
                          {{{"dp", 2}},
                           {{"dp", 2}, {"reduce_every_micro_batch", true}},
                           {{"tp", 2}, {"sequence_parallel", true}},
                           {{"tp", 2}, {"pp", 2}},
                           {{"cp", 2}, {"data_parallel", "zero1"}},
                           {{"dp", 2}, {"data_parallel", "zero1"}},
                           {{"dp", 2}, {"tp", 2}, {"data_parallel", "zero2"}},
                           {{"pp", 2}, {"schedule", "zero_bubble"}}},
                          json::object(), clip);
    expect_serial_results(transformer(false), {{{"dp", 4}, {"data_parallel", "zero3"}, {"shard_group", 2}}}, json::object(), clip);
    json grouped = transformer(false);
    grouped["transformer"]["kv_heads"] = 2;
    expect_serial_results(grouped, {{{"tp", 4}}}, json::object(), clip);
    expect_serial_results(perceptron(), {{{"tp", 2}}, {{"pp", 2}}}, json::object(), clip);
}

// Of tensors that are in shards, in columns, on several ranks or in two stages, whose norms make the length of their step.
TEST_F(Executor, ComputesTheSameWithLamb) {
    const json lamb{{"optimizer", "lamb"}};
    const auto by_lamb = [&](json plan) {
        plan.update(lamb);
        return plan;
    };
    // Without the biases of keys: their gradient is nothing but what is rounded, and makes a step like any other.
    const json gpt = with(transformer(true), {{"bias", false}});
    expect_serial_results(
        gpt,
        {by_lamb({{"dp", 2}}), by_lamb({{"dp", 2}, {"data_parallel", "zero1"}}),
         by_lamb({{"dp", 4}, {"data_parallel", "zero2"}, {"shard_group", 2}}), by_lamb({{"dp", 2}, {"data_parallel", "zero3"}}),
         by_lamb({{"tp", 2}, {"sequence_parallel", true}}), by_lamb({{"pp", 2}}),
         by_lamb({{"pp", 2}, {"dp", 2}, {"tp", 2}, {"data_parallel", "zero1"}}), by_lamb({{"cp", 2}})},
        lamb);
    expect_serial_results(with(transformer(false), {{"bias", false}, {"kv_heads", 2}}), {by_lamb({{"tp", 4}})}, lamb);
    expect_serial_results(perceptron(), {by_lamb({{"tp", 2}}), by_lamb({{"dp", 2}, {"data_parallel", "zero3"}})}, lamb);
}

TEST_F(Executor, ComputesTheSameInHybrids) {
    expect_serial_results(transformer(true), {{{"dp", 2}, {"pp", 2}},
                                              {{"dp", 2}, {"pp", 2}, {"pipeline_overlap", true}},
                                              {{"tp", 2}, {"dp", 2}},
                                              {{"tp", 2}, {"pp", 2}, {"sequence_parallel", true}}});
}

TEST_F(Executor, ComputesTheSameWithStatesAndGradientsInShards) {
    expect_serial_results(transformer(true), {{{"dp", 2}, {"data_parallel", "zero1"}},
                                              {{"dp", 2}, {"data_parallel", "zero1"}, {"gather_overlap", true}},
                                              {{"dp", 2}, {"data_parallel", "zero2"}},
                                              {{"dp", 2}, {"tp", 2}, {"data_parallel", "zero2"}}});
}

TEST_F(Executor, ComputesTheSameWithParametersInShards) {
    expect_serial_results(transformer(false), {{{"dp", 2}, {"data_parallel", "zero3"}},
                                               {{"dp", 2}, {"data_parallel", "zero3"}, {"gather_overlap", true}},
                                               {{"dp", 4}, {"data_parallel", "zero3"}, {"shard_group", 2}},
                                               {{"dp", 2}, {"pp", 2}, {"data_parallel", "zero3"}}});
}

// The embedding is gathered for the first block, and again read and added to by the last one.
TEST_F(Executor, ComputesTheSameWithASharedMatrixInShards) {
    const json zero3{{"dp", 2}, {"data_parallel", "zero3"}};
    const auto with = [&](const json& more) {
        json plan = zero3;
        plan.update(more);
        return plan;
    };
    expect_serial_results(transformer(true),
                          {zero3, with({{"micro_batch", 1}, {"reduce_every_micro_batch", false}}),
                           with({{"micro_batch", 1}, {"reduce_every_micro_batch", true}, {"recompute", "full"}}),
                           with({{"dp", 4}, {"shard_group", 2}, {"gather_overlap", true}}), with({{"tp", 2}, {"sequence_parallel", true}}),
                           with({{"cp", 2}, {"dp", 1}, {"schedule", "zero_bubble"}}), with({{"pp", 2}, {"schedule", "zero_bubble_v"}})});
    framework_ = {{"base", "sextant"}, {"reshards_after_forward", true}, {"prefetch_blocks", 1}, {"clips_gradients", true}};
    expect_serial_results(transformer(true), {with({{"micro_batch", 1}, {"gather_overlap", true}}), with({{"gather_overlap", false}})});
}

// The first stage has the matrix in front of its positions, the last one behind a norm: shards of the one are not those of the other.
TEST_F(Executor, ComputesTheSameWithShardsOfAMatrixThatStagesShare) {
    framework_ = {{"base", "sextant"}, {"clips_gradients", true}};
    expect_serial_results(transformer(true), {{{"dp", 2}, {"pp", 2}, {"data_parallel", "zero1"}, {"gather_overlap", true}},
                                              {{"dp", 4}, {"pp", 2}, {"data_parallel", "zero2"}, {"shard_group", 2}},
                                              {{"dp", 2}, {"pp", 2}, {"tp", 2}, {"data_parallel", "zero2"}},
                                              {{"dp", 2}, {"pp", 3}, {"data_parallel", "zero3"}},
                                              {{"cp", 2}, {"pp", 2}, {"data_parallel", "zero3"}, {"schedule", "zero_bubble"}}});
    const json twelve{{"global_batch", 12}};
    expect_serial_results(transformer(true), {{{"dp", 3}, {"pp", 2}, {"data_parallel", "zero2"}, {"global_batch", 12}}}, twelve);
}

TEST_F(Executor, GathersWhatIsPredictedOfASharedMatrixInShards) {
    const json run = train(transformer(true), {{"dp", 2}, {"data_parallel", "zero3"}, {"micro_batch", 1}});
    ASSERT_FALSE(run.is_null());
    SpansByKind found = spans_of(run), predicted = predicted_spans();
    EXPECT_GT(predicted["data_exchange"].bytes, 0);
    EXPECT_NEAR(found["data_exchange"].bytes, predicted["data_exchange"].bytes, 1);
    EXPECT_EQ(found["data_exchange"].count, predicted["data_exchange"].count);
}

// Each rank has some of the heads, and so of the slopes; slices of the sequence stand where they stand.
TEST_F(Executor, ComputesTheSameWhereScoresFallWithDistance) {
    const json bloom = with(transformer(true), {{"position", "alibi"}, {"embedding_norm", true}});
    expect_serial_results(bloom, {{{"tp", 2}, {"dp", 2}}, {{"tp", 4}, {"sequence_parallel", true}}, {{"cp", 2}, {"tp", 2}}, {{"pp", 2}}});
    expect_serial_results(bloom, {{{"tp", 2}, {"flash_attention", false}}, {{"cp", 2}, {"flash_attention", false}}},
                          {{"flash_attention", false}});
}

TEST_F(Executor, ComputesTheSameForOtherNetworks) {
    expect_serial_results(perceptron(), {{{"dp", 2}}, {{"tp", 2}}, {{"pp", 2}}, {{"dp", 2}, {"data_parallel", "zero3"}}});
    expect_serial_results(images(), {{{"dp", 2}}, {{"pp", 2}}, {{"dp", 2}, {"data_parallel", "zero2"}}});
    expect_serial_results(wired("add"), {{{"dp", 2}}, {{"pp", 2}}, {{"tp", 2}}});
    expect_serial_results(wired("concat"), {{{"dp", 2}}, {{"pp", 2}}});
}

TEST_F(Executor, LearnsTheTask) {
    for (const json& workload : {transformer(false), perceptron(), images()}) {
        const json run = train(workload, {{"dp", 2}, {"micro_batch", 8}, {"global_batch", 16}, {"optimizer", "adam"}},
                               {"--steps", "30", "--learning-rate", "0.01"});
        ASSERT_FALSE(run.is_null());
        EXPECT_LT(run["losses"].back().get<double>(), 0.6 * run["losses"].front().get<double>()) << workload;
    }
}

// 64 x 512 + 512, seven times 512 x 512 + 512, 512 x 10 + 10: 1.877 million parameters of four bytes, 7.51 MB, as are gradients; Adam has
// 15.0 MB of states. Whole, all of that is 30.0 MB. Of two ranks each has half of the states under ZeRO-1, 22.5 MB; under ZeRO-2 half of
// the sums, beside the gradients that are reduced. All fit into one bucket of 25 MiB: 22.5 + 3.75 MB; of buckets of a block, 1.05 MB, there
// are two, 18.8 + 2.1 MB. Under ZeRO-3 it has half of everything, 15.0 MB, one such block of gradients, and of weights one too where they
// are given back; reduced once a step, all gradients in place of half of them and of that block. Activations are two samples: nothing.
// Whatever the plan, what is predicted is what a run uses.
TEST_F(Executor, HoldsTheMemoryThatIsPredicted) {
    const json deep{{"mlp", {{"widths", {64, 512, 512, 512, 512, 512, 512, 512, 512, 10}}}}};
    const auto expect_peak = [&](const json& plan, double bytes) {
        json adam{{"dp", 2}, {"micro_batch", 2}, {"optimizer", "adam"}};
        adam.update(plan);
        const json run = train(deep, adam);
        ASSERT_FALSE(run.is_null());
        const std::vector<double> found = peaks_of(run), predicted = predicted_peaks();
        ASSERT_EQ(found.size(), predicted.size());
        for (std::size_t r = 0; r < found.size(); ++r) EXPECT_NEAR(found[r] / predicted[r], 1, 0.01) << plan << " on rank " << r;
        EXPECT_NEAR(found[0], bytes, 0.2e6) << plan;
    };
    const json zero1{{"data_parallel", "zero1"}}, zero2{{"data_parallel", "zero2"}}, zero3{{"data_parallel", "zero3"}};
    const auto with = [](json plan, const json& more) {
        plan.update(more);
        return plan;
    };
    const json at_once{{"micro_batch", 4}}, every{{"reduce_every_micro_batch", true}}, once{{"reduce_every_micro_batch", false}};
    expect_peak({{"data_parallel", "all_reduce"}}, 30.0e6);
    expect_peak(with({{"data_parallel", "all_reduce"}}, every), 37.6e6);
    for (const json& of_one : {zero1, with(zero1, at_once), with(zero2, once)}) expect_peak(of_one, 22.5e6);
    for (const json& of_one : {zero2, with(zero2, at_once), with(zero1, every), with(zero2, {{"gradient_overlap", false}})})
        expect_peak(of_one, 26.3e6);
    expect_peak(with(zero1, {{"tp", 2}}), 11.3e6);
    expect_peak(with(zero2, {{"pp", 2}}), 11.5e6);
    expect_peak(with(zero3, {{"pp", 2}, {"micro_batch", 1}}), 10.9e6);
    expect_peak(with(zero3, {{"pp", 2}, {"micro_batch", 1}, {"schedule", "gpipe"}}), 10.9e6);
    expect_peak(with(zero1, {{"precision", "bf16"}}), 22.5e6);
    framework_ = {{"base", "sextant"}, {"reshards_after_forward", true}, {"bucket", "0 B"}};
    expect_peak(zero2, 20.9e6);
    expect_peak(with(zero2, {{"precision", "bf16"}}), 20.9e6);
    expect_peak(zero3, 17.1e6);
    expect_peak(with(zero3, once), 19.8e6);
}

using ExecutorOverlap = MpiTest;

// Every block in an exchange of its own: those of the last blocks run while the rank that came last still computes the first ones. On a
// machine that is busy with other things no exchange may get its turn in time: one run of three must show it.
TEST_F(ExecutorOverlap, ReducesWhileItComputes) {
    framework_ = {{"base", "sextant"}, {"bucket", "0 B"}};
    int found = 0;
    for (int tries = 0; tries < 3 && found == 0; ++tries) {
        const json run =
            train({{"mlp", {{"widths", {256, 1024, 1024, 1024, 10}}}}}, {{"dp", 2}, {"micro_batch", 256}, {"global_batch", 512}});
        ASSERT_FALSE(run.is_null());
        const json& spans = run["trace"]["spans"];
        const auto beside = [&](std::size_t i, std::size_t j) {
            return spans["kind"][i] == "data_exchange" && spans["kind"][j] == "backward" && spans["rank"][i] == spans["rank"][j] &&
                   spans["start_s"][i] < spans["end_s"][j] && spans["end_s"][i] > spans["start_s"][j];
        };
        for (std::size_t i = 0; i < spans["kind"].size(); ++i)
            for (std::size_t j = 0; j < spans["kind"].size(); ++j) found += beside(i, j) ? 1 : 0;
    }
    EXPECT_GT(found, 0);
}

TEST_F(Executor, LeavesATraceOfEveryRank) {
    const json run = train(transformer(true), {{"dp", 2}, {"pp", 2}});
    ASSERT_FALSE(run.is_null());
    EXPECT_EQ(run["schema"], "run/1");
    const json& trace = run["trace"];
    ASSERT_EQ(trace["ranks"].size(), 4U);
    const json& spans = trace["spans"];
    std::vector<double> computed(4, 0);
    for (std::size_t i = 0; i < spans["start_s"].size(); ++i) {
        EXPECT_LE(spans["start_s"][i], spans["end_s"][i]);
        EXPECT_LE(spans["end_s"][i], trace["end_s"]);
        EXPECT_LE(spans["start_s"][spans["cause"][i].get<std::size_t>()], spans["start_s"][i]);
        computed[spans["rank"][i].get<std::size_t>()] += spans["flops"][i].get<double>();
    }
    // Data-parallel ranks compute the same; both stages something.
    EXPECT_GT(computed[0], 0);
    EXPECT_EQ(computed[0], computed[1]);
    EXPECT_GT(computed[2], 0);
    EXPECT_EQ(computed[2], computed[3]);
}

// Whether the system still has such pages: memory that was long in use lies in pieces.
bool huge_pages_are_left() {
    constexpr std::size_t size = std::size_t{64} << 20;
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    ::madvise(memory, size, MADV_HUGEPAGE);
    std::memset(memory, 1, size);
    std::ifstream rollup("/proc/self/smaps_rollup");
    const std::string said{std::istreambuf_iterator<char>(rollup), {}};
    ::munmap(memory, size);
    return std::regex_search(said, std::regex("AnonHugePages: +[1-9]"));
}

// A shell beside the rank says again and again how much of its memory lies in such pages. Layers have 4 MB of weights each.
TEST_F(Executor, AsksForHugePages) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "memory does not come from glibc";
#endif
    std::string offered;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), offered);
    if (offered.find("[madvise]") == std::string::npos) GTEST_SKIP() << "not left to programs here";
    if (!huge_pages_are_left()) GTEST_SKIP() << "this machine has none left";
    constexpr auto watch = "\"$0\" \"$@\" & while grep AnonHugePages /proc/$!/smaps_rollup 2>/dev/null; do sleep 0.01; done; wait $!";
    through_ = {"sh", "-c", watch};
    const ProcessResult result = start({{"mlp", {{"widths", {1024, 1024, 1024, 10}}}}}, {{"micro_batch", 8}}, 1);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, testing::ContainsRegex("AnonHugePages: +[1-9]"));
}

TEST_F(Executor, RefusesBeforeItStarts) {
    EXPECT_THAT(start(transformer(true), {{"dp", 2}, {"precision", "fp8"}}, 2),
                exits_with(2, HasSubstr("products run in fp32, bf16 and fp16")));
    EXPECT_THAT(start(wired("concat"), {{"tp", 2}}, 2), exits_with(2, HasSubstr("images that are put together do not run cut")));
    EXPECT_THAT(start(transformer(true), {{"dp", 4}}, 2), exits_with(2, HasSubstr("the plan has 4 ranks, and 2 were started")));
    EXPECT_EQ(start(transformer(true), {{"dp", 2}}, 2, {"--steps", "none"}).exit_code, 2);
    for (const char* number : {"nan", "inf"})
        for (const char* option : {"--learning-rate", "--hang-timeout"})
            EXPECT_EQ(start(transformer(true), {{"dp", 2}}, 2, {option, number}).exit_code, 2) << option << ' ' << number;
}

TEST_F(Executor, TakesItsThreadsFromTheVariableOfOpenMp) {
    for (const auto& [stated, code] : {std::pair("2,1", 0), std::pair("", 0), std::pair("many", 2)}) {
        through_ = {"env", "OMP_NUM_THREADS=" + std::string(stated)};
        EXPECT_EQ(start(perceptron(), json::object(), 1, {"--check"}).exit_code, code) << stated;
        EXPECT_EQ(start(perceptron(), json::object(), 1, {"--check", "--threads", "1"}).exit_code, 0) << stated;
    }
}

TEST_F(Executor, SaysWhoFailedAtWhat) {
    const ProcessResult result = start(perceptron(), {{"dp", 2}}, 2, {"--out", "/no/such/folder/run.json"});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, HasSubstr(std::filesystem::path(executor_program()).filename().string() + ": rank 0 on "));
    EXPECT_THAT(result.err, HasSubstr("cannot write /no/such/folder/run.json"));
}

}  // namespace
}  // namespace sextant
