// Multi-token prediction as it is used: processes under mpirun. A plan trains what one rank trains.
#include "tests/backend/mpi_test.hpp"

#include <cmath>

namespace sextant {
namespace {

using ExecutorPrediction = MpiTest;

json predicting(bool tied, std::int64_t modules, const json& more = as_usual) {
    json workload = transformer(tied);
    workload["transformer"].update({{"mtp_layers", modules}, {"position", "rotary"}});
    workload["transformer"].update(more);
    return workload;
}

// As DeepSeek-V3 has it: latent attention; a dense layer first, then routed experts beside a shared one, chosen by sigmoid and biases.
json small_deepseek() {
    const json mla{{"q_rank", 12}, {"kv_rank", 16}, {"qk_nope_dim", 4}, {"qk_rope_dim", 4}, {"value_dim", 6}};
    const json mixture{{"experts", 8},          {"topk", 2},
                       {"ffn_hidden", 24},      {"shared_ffn_hidden", 16},
                       {"dense_layers", 1},     {"expert_groups", 4},
                       {"groups_per_token", 2}, {"sigmoid_router", true},
                       {"balance_loss", 0.01},  {"bias_update_speed", 0.01}};
    return predicting(false, 1, {{"mlp", "swiglu"}, {"ffn_hidden", 48}, {"norm", "rms"}, {"bias", false}, {"mla", mla}, {"moe", mixture}});
}

TEST_F(ExecutorPrediction, ComputesTheSameInEveryDimension) {
    expect_serial_results(predicting(false, 1), {{{"dp", 2}},
                                                 {{"dp", 2}, {"recompute", "full"}},
                                                 {{"dp", 2}, {"data_parallel", "zero1"}},
                                                 {{"dp", 2}, {"data_parallel", "zero2"}, {"micro_batch", 1}},
                                                 {{"tp", 2}},
                                                 {{"tp", 4}, {"sequence_parallel", true}},
                                                 {{"cp", 2}},
                                                 {{"pp", 2}},
                                                 {{"pp", 2}, {"dp", 2}}});
}

// The second module reads what the first one made; all share one matrix, or two.
TEST_F(ExecutorPrediction, ComputesTheSameWithTwoModules) {
    const std::vector<json> plans{{{"dp", 2}},
                                  {{"tp", 2}, {"sequence_parallel", true}, {"dp", 2}, {"data_parallel", "zero1"}},
                                  {{"dp", 2}, {"data_parallel", "zero3"}, {"reduce_every_micro_batch", true}},
                                  {{"pp", 2}},
                                  {{"pp", 2}, {"tp", 2}, {"recompute", "full"}}};
    expect_serial_results(predicting(true, 2), plans);
    expect_serial_results(predicting(false, 2), plans);
}

// Three stages, or four chunks, have copies of one matrix: the first module stands a stage before the head.
TEST_F(ExecutorPrediction, ComputesTheSameWithModulesInSeveralStages) {
    const std::vector<json> plans{{{"pp", 4}, {"stage_blocks", {3, 3, 1, 1}}},
                                  {{"pp", 2}, {"vpp", 2}, {"schedule", "interleaved"}, {"stage_blocks", {2, 2, 2, 2}}},
                                  {{"pp", 2}, {"schedule", "zero_bubble"}},
                                  {{"pp", 3}, {"dp", 2}, {"data_parallel", "zero2"}, {"stage_blocks", {3, 3, 2}}}};
    expect_serial_results(predicting(true, 2), plans);
    expect_serial_results(predicting(false, 2), plans);
}

TEST_F(ExecutorPrediction, ComputesTheSameAsDeepSeekV3HasIt) {
    expect_serial_results(small_deepseek(), {{{"dp", 2}},
                                             {{"dp", 2}, {"ep", 2}},
                                             {{"dp", 2}, {"tp", 2}, {"ep", 2}, {"sequence_parallel", true}},
                                             {{"dp", 2}, {"ep", 2}, {"data_parallel", "zero1"}, {"recompute", "full"}},
                                             {{"dp", 2}, {"pp", 2}, {"ep", 2}}});
}

TEST_F(ExecutorPrediction, ComputesTheSameWhereGradientsAreClipped) {
    framework_ = {{"base", "sextant"}, {"clips_gradients", true}};
    expect_serial_results(predicting(false, 2), {{{"pp", 2}, {"dp", 2}}, {{"tp", 2}}});
}

TEST_F(ExecutorPrediction, ComputesNearlyTheSameIn16Bits) {
    loss_tolerance_ = 2e-3;
    weight_tolerance_ = 1e-2;
    const std::vector<json> plans{
        {{"dp", 2}, {"precision", "bf16"}}, {{"tp", 2}, {"precision", "bf16"}}, {{"pp", 2}, {"precision", "bf16"}}};
    expect_serial_results(predicting(false, 1), plans, {{"precision", "bf16"}});
}

TEST_F(ExecutorPrediction, LearnsFurtherTokensToo) {
    for (const json& workload : {predicting(true, 2, {{"dropout", false}}), small_deepseek()}) {
        const json run = train(workload, {{"optimizer", "adamw"}}, {"--steps", "60", "--learning-rate", "0.01"});
        ASSERT_FALSE(run.is_null());
        for (const char* losses : {"losses", "mtp_losses"}) {
            ASSERT_EQ(run[losses].size(), 60U);
            EXPECT_NEAR(run[losses].front().get<double>(), std::log(64), 0.5) << losses;
            EXPECT_LT(run[losses].back().get<double>(), 0.6 * run[losses].front().get<double>()) << losses;
        }
    }
}

// With a weight of zero the modules learn nothing from their losses, nor does the trunk: it trains as without them.
TEST_F(ExecutorPrediction, LeavesTheNetworkAsItIsWithoutWeight) {
    const json with = train(predicting(true, 1, {{"mtp_loss_weight", 0}}), as_usual), without = train(predicting(true, 0), as_usual);
    ASSERT_FALSE(with.is_null() || without.is_null());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(with["losses"][i].get<double>(), without["losses"][i].get<double>(), 1e-6);
    EXPECT_FALSE(without.contains("mtp_losses"));
}

}  // namespace
}  // namespace sextant
