// Low-rank adapters as they are used: processes under mpirun. What is frozen stays as it was, and a plan trains what one rank trains.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::HasSubstr;

using ExecutorAdapters = MpiTest;

const json none = json::object();

json adapted(const json& adapters = none, const json& more = none, bool tied = false) {
    json workload = transformer(tied);
    workload["transformer"].update(
        {{"mlp", "swiglu"}, {"ffn_hidden", 48}, {"norm", "rms"}, {"bias", false}, {"adapters", {{"rank", 4}, {"alpha", 8}}}});
    workload["transformer"]["adapters"].update(adapters);
    workload["transformer"].update(more);
    return workload;
}

bool is_adapter(const json& parameter) { return parameter["name"].get<std::string>().find(".lora_") != std::string::npos; }

TEST_F(ExecutorAdapters, ComputeTheSameOverDataParallelRanks) {
    expect_serial_results(adapted(), {{{"dp", 2}},
                                      {{"dp", 4}, {"micro_batch", 1}, {"reduce_every_micro_batch", true}},
                                      {{"dp", 2}, {"recompute", "full"}},
                                      {{"dp", 2}, {"recompute", "selective"}},
                                      {{"cp", 2}},
                                      {{"cp", 2}, {"dp", 2}, {"data_parallel", "zero1"}}});
}

TEST_F(ExecutorAdapters, ComputeTheSameInShards) {
    expect_serial_results(adapted(), {{{"dp", 4}, {"data_parallel", "zero1"}},
                                      {{"dp", 4}, {"data_parallel", "zero1"}, {"gather_overlap", true}},
                                      {{"dp", 2}, {"data_parallel", "zero2"}, {"micro_batch", 1}, {"reduce_every_micro_batch", true}},
                                      {{"dp", 4}, {"data_parallel", "zero3"}},
                                      {{"dp", 4}, {"data_parallel", "zero3"}, {"shard_group", 2}},
                                      {{"dp", 2}, {"tp", 2}, {"data_parallel", "zero3"}}});
    expect_serial_results(adapted(none, none, true), {{{"dp", 2}, {"data_parallel", "zero3"}}});
}

// Of an adapter one matrix is cut as the product beside it, and every rank has the other: with a part of its gradient.
TEST_F(ExecutorAdapters, ComputeTheSameInTensorParallel) {
    const std::vector<json> plans{
        {{"tp", 2}}, {{"tp", 2}, {"sequence_parallel", true}}, {{"tp", 2}, {"cp", 2}, {"sequence_parallel", true}}};
    expect_serial_results(adapted(), plans);
    expect_serial_results(adapted(none, {{"mlp", "gelu"}, {"norm", "layer"}, {"bias", true}}), plans);
    // Heads of keys and values that two ranks have.
    expect_serial_results(adapted(none, {{"kv_heads", 2}}), {{{"tp", 4}}, {{"tp", 4}, {"sequence_parallel", true}}});
}

TEST_F(ExecutorAdapters, ComputeTheSameInPipelines) {
    const std::vector<json> plans{{{"pp", 2}},
                                  {{"pp", 2}, {"dp", 2}, {"schedule", "zero_bubble"}},
                                  {{"pp", 2}, {"vpp", 2}, {"schedule", "interleaved"}},
                                  {{"pp", 2}, {"tp", 2}, {"sequence_parallel", true}}};
    expect_serial_results(adapted(), plans);
    expect_serial_results(adapted(none, none, true), plans);  // the last stage has a copy of the table, which stays as it is
}

TEST_F(ExecutorAdapters, OfEveryChoiceComputeTheSame) {
    const std::vector<json> plans{{{"dp", 2}}, {{"tp", 2}, {"sequence_parallel", true}}};
    expect_serial_results(adapted({{"fc1", false}, {"fc2", false}}), plans);
    expect_serial_results(adapted({{"qkv", false}, {"proj", false}}), plans);
    const json mixture{{"experts", 4}, {"topk", 2}, {"ffn_hidden", 24}, {"shared_ffn_hidden", 16}};
    expect_serial_results(adapted(none, {{"moe", mixture}}), {{{"dp", 2}, {"ep", 2}}, {{"tp", 2}, {"dp", 2}, {"ep", 2}}});
    json sigmoid = mixture;
    sigmoid["sigmoid_router"] = true;
    expect_serial_results(adapted(none, {{"moe", sigmoid}}), {{{"dp", 2}, {"ep", 2}}});
}

TEST_F(ExecutorAdapters, ClipGradientsTheSame) {
    framework_ = {{"base", "sextant"}, {"clips_gradients", true}};
    expect_serial_results(adapted(), {{{"dp", 2}}, {{"dp", 2}, {"data_parallel", "zero1"}}, {{"tp", 2}}}, none, {"--clip-norm", "0.01"});
}

TEST_F(ExecutorAdapters, ComputeNearlyTheSameIn16Bits) {
    loss_tolerance_ = 5e-3;
    weight_tolerance_ = 2e-2;
    for (const char* precision : {"bf16", "fp16"})
        expect_serial_results(adapted(),
                              {{{"precision", precision}, {"dp", 2}}, {{"precision", precision}, {"dp", 2}, {"data_parallel", "zero3"}}},
                              {{"precision", precision}});
}

// Frozen weights end as they began; the second of each pair begins as zero and does not stay so.
TEST_F(ExecutorAdapters, AloneAreTrained) {
    const json before = train(adapted(), none, {"--steps", "1", "--learning-rate", "0"}), after = train(adapted(), none, {"--steps", "3"});
    ASSERT_EQ(before["parameters"].size(), after["parameters"].size());
    int trained = 0;
    for (std::size_t i = 0; i < after["parameters"].size(); ++i) {
        const json &was = before["parameters"][i], &is = after["parameters"][i];
        if (is_adapter(is)) {
            ++trained;
            EXPECT_NE(was["product"], is["product"]) << is["name"];
            const bool begins_as_zero = is["name"].get<std::string>().ends_with(".lora_b.weight");
            EXPECT_EQ(was["norm"] == 0, begins_as_zero) << is["name"];
        } else {
            EXPECT_EQ(was, is);
        }
    }
    EXPECT_EQ(trained, 4 * 2 * 4);  // four layers, four pairs each
}

// So much of the task as fits into the products of a random network.
TEST_F(ExecutorAdapters, LearnTheTask) {
    const json run = train(adapted({{"rank", 16}}), {{"dp", 2}, {"micro_batch", 8}, {"global_batch", 16}, {"optimizer", "adam"}},
                           {"--steps", "40", "--learning-rate", "0.02"});
    ASSERT_FALSE(run.is_null());
    EXPECT_LT(run["losses"].back().get<double>(), 0.8 * run["losses"].front().get<double>());
}

TEST_F(ExecutorAdapters, AreNotForServers) {
    EXPECT_THAT(start(adapted(), {{"dp", 2}, {"data_parallel", "parameter_server"}}, 3),
                exits_with(2, HasSubstr("parameter servers hold every weight")));
}

}  // namespace
}  // namespace sextant
