// Hybrids of state spaces and attention as they are used: processes under mpirun. A plan trains what one rank trains.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::HasSubstr;

using ExecutorHybrids = MpiTest;

// Sequences of 16 tokens, of which the scan takes six at a time.
json hybrid(const json& more = as_usual) {
    json workload = transformer(false);
    workload["transformer"].update({{"layer_pattern", "M-M*"},
                                    {"kv_heads", 2},
                                    {"mlp", "squared_relu"},
                                    {"ffn_hidden", 48},
                                    {"norm", "rms"},
                                    {"position", "none"},
                                    {"bias", false},
                                    {"ssm", {{"heads", 8}, {"head_dim", 8}, {"groups", 4}, {"state", 6}, {"chunk", 6}}}});
    workload["transformer"].update(more);
    return workload;
}

TEST_F(ExecutorHybrids, ComputeTheSameOverDataParallelRanks) {
    expect_serial_results(hybrid(), {{{"dp", 2}},
                                     {{"dp", 2}, {"recompute", "full"}},
                                     {{"dp", 2}, {"recompute", "selective"}},
                                     {{"dp", 4}, {"data_parallel", "zero1"}},
                                     {{"dp", 4}, {"data_parallel", "zero3"}, {"micro_batch", 1}}});
}

// Gate, x, B, C and steps are cut each by itself: the heads of a state space, and their groups.
TEST_F(ExecutorHybrids, ComputeTheSameInTensorParallel) {
    const std::vector<json> plans{{{"tp", 2}}, {{"tp", 4}}, {{"tp", 2}, {"sequence_parallel", true}, {"dp", 2}}};
    expect_serial_results(hybrid(), plans);
    expect_serial_results(hybrid({{"bias", true}, {"norm", "layer"}}), plans);
}

TEST_F(ExecutorHybrids, ComputeTheSameInPipelines) {
    expect_serial_results(hybrid(), {{{"pp", 2}}, {{"pp", 2}, {"vpp", 2}, {"schedule", "interleaved"}}, {{"pp", 2}, {"tp", 2}}});
}

// Tokens go to their experts in a narrower form.
TEST_F(ExecutorHybrids, ComputeTheSameWithExpertsBehindALatent) {
    const json mixture{{"experts", 4}, {"topk", 2}, {"ffn_hidden", 24}, {"shared_ffn_hidden", 16}, {"latent", 12}};
    const std::vector<json> plans{{{"dp", 2}},
                                  {{"dp", 2}, {"ep", 2}},
                                  {{"tp", 2}, {"dp", 2}, {"ep", 2}},
                                  {{"tp", 2}, {"dp", 2}, {"ep", 2}, {"sequence_parallel", true}}};
    expect_serial_results(hybrid({{"layer_pattern", "ME*E"}, {"moe", mixture}}), plans);
    expect_serial_results(hybrid({{"layer_pattern", "ME*E"}, {"moe", mixture}, {"bias", true}}), plans);
    // Nemotron 3's routers.
    json sigmoid = mixture;
    sigmoid["sigmoid_router"] = true;
    expect_serial_results(hybrid({{"layer_pattern", "ME*E"}, {"moe", sigmoid}}), plans);
}

TEST_F(ExecutorHybrids, ComputeNearlyTheSameIn16Bits) {
    loss_tolerance_ = 5e-3;
    weight_tolerance_ = 2e-2;
    for (const char* precision : {"bf16", "fp16"})
        expect_serial_results(hybrid(), {{{"precision", precision}, {"dp", 2}}, {{"precision", precision}, {"tp", 2}}},
                              {{"precision", precision}});
}

// Mamba-2 alone: no attention, no MLP.
TEST_F(ExecutorHybrids, LearnTheTask) {
    const json run =
        train(hybrid({{"layer_pattern", "MMM"}, {"layers", 3}}),
              {{"dp", 2}, {"micro_batch", 8}, {"global_batch", 16}, {"optimizer", "adam"}}, {"--steps", "30", "--learning-rate", "0.01"});
    ASSERT_FALSE(run.is_null());
    EXPECT_LT(run["losses"].back().get<double>(), 0.5 * run["losses"].front().get<double>());
}

TEST_F(ExecutorHybrids, KeepASequenceWhole) {
    EXPECT_THAT(start(hybrid(), {{"cp", 2}}, 2), exits_with(2, HasSubstr("a state goes from token to token")));
}

}  // namespace
}  // namespace sextant
