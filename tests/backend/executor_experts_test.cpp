// Mixtures of experts as they are used: processes under mpirun. On however many ranks the experts are, a plan computes what one rank does:
// no token is dropped, or those of every router that its experts have no room for.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace sextant {
namespace {

using testing::HasSubstr;

json experts(const json& moe = as_usual, const json& more = as_usual) {
    json mixture{{"experts", 4}, {"topk", 2}, {"ffn_hidden", 24}};
    mixture.update(moe);
    json workload = transformer(false);
    workload["transformer"].update({{"mlp", "swiglu"}, {"ffn_hidden", 48}, {"bias", false}, {"moe", mixture}});
    workload["transformer"].update(more);
    return workload;
}

class ExecutorExperts : public MpiTest {
protected:
    // How many times the mean of its layer the busiest of eight experts has to do, at the end of a hundred steps.
    double busiest(json moe) {
        moe.update({{"experts", 8}, {"topk", 1}});
        const json run = train(experts(moe), {{"dp", 2}, {"ep", 2}, {"micro_batch", 8}, {"global_batch", 16}, {"optimizer", "adam"}},
                               {"--steps", "100", "--learning-rate", "0.01"});
        const std::vector<double> times = run["expert_imbalance"];
        return std::accumulate(times.end() - 10, times.end(), 0.0) / 10;
    }
};

TEST_F(ExecutorExperts, ComputeTheSameOverDataParallelRanks) {
    expect_serial_results(experts(), {{{"dp", 2}},
                                      {{"dp", 2}, {"ep", 2}},
                                      {{"dp", 4}, {"ep", 2}},
                                      {{"dp", 4}, {"ep", 4}},
                                      {{"dp", 2}, {"ep", 2}, {"recompute", "full"}},
                                      {{"dp", 2}, {"ep", 2}, {"recompute", "selective"}, {"recompute_modules", {"moe"}}},
                                      {{"dp", 4}, {"ep", 2}, {"micro_batch", 1}, {"reduce_every_micro_batch", true}}});
}

TEST_F(ExecutorExperts, ComputeTheSameWithStatesInShards) {
    expect_serial_results(experts(),
                          {{{"dp", 4}, {"ep", 2}, {"data_parallel", "zero1"}},
                           {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero2"}, {"micro_batch", 1}, {"reduce_every_micro_batch", true}},
                           {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero1"}, {"gather_overlap", true}},
                           {{"dp", 2}, {"ep", 2}, {"data_parallel", "zero1"}}});
}

// Each rank with experts of its own; two and two with the same; all with all of them.
TEST_F(ExecutorExperts, ComputeTheSameWithParametersInShards) {
    expect_serial_results(experts(),
                          {{{"dp", 2}, {"ep", 2}, {"data_parallel", "zero3"}},
                           {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero3"}, {"micro_batch", 1}},
                           {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero3"}, {"recompute", "full"}},
                           {{"dp", 2}, {"data_parallel", "zero3"}},
                           {{"dp", 2}, {"pp", 2}, {"data_parallel", "zero3"}},
                           {{"dp", 2}, {"tp", 2}, {"ep", 2}, {"expert_tp", 1}, {"sequence_parallel", true}, {"data_parallel", "zero3"}},
                           {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero3"}, {"shard_group", 2}}});
}

TEST_F(ExecutorExperts, ComputeTheSameInPipelines) {
    expect_serial_results(experts({{"every", 2}}), {{{"pp", 2}, {"dp", 2}, {"ep", 2}},
                                                    {{"pp", 2}, {"dp", 2}, {"ep", 2}, {"schedule", "zero_bubble"}},
                                                    {{"pp", 2}, {"vpp", 2}, {"dp", 2}, {"ep", 2}, {"schedule", "interleaved"}}});
}

// Experts cut by columns; whole ones over the ranks of the tensor group; and both.
TEST_F(ExecutorExperts, ComputeTheSameInTensorParallel) {
    expect_serial_results(experts(), {{{"tp", 2}},
                                      {{"tp", 2}, {"sequence_parallel", true}},
                                      {{"tp", 2}, {"dp", 2}, {"ep", 2}},
                                      {{"tp", 2}, {"dp", 2}, {"ep", 2}, {"sequence_parallel", true}},
                                      {{"tp", 2}, {"ep", 2}, {"expert_tp", 1}, {"sequence_parallel", true}},
                                      {{"tp", 2}, {"dp", 2}, {"ep", 2}, {"expert_tp", 1}, {"sequence_parallel", true}},
                                      {{"tp", 2}, {"dp", 2}, {"expert_tp", 1}, {"sequence_parallel", true}, {"data_parallel", "zero1"}},
                                      {{"tp", 4}, {"ep", 2}, {"expert_tp", 2}, {"sequence_parallel", true}}});
}

TEST_F(ExecutorExperts, ComputeTheSameInContextParallel) {
    expect_serial_results(
        experts(),
        {{{"cp", 2}, {"ep", 2}}, {{"cp", 2}, {"dp", 2}, {"ep", 4}}, {{"cp", 2}, {"dp", 2}, {"ep", 2}, {"data_parallel", "zero1"}}});
}

// Norms are of the weights of all experts together.
TEST_F(ExecutorExperts, ComputeTheSameWithLamb) {
    const json lamb{{"optimizer", "lamb"}};
    expect_serial_results(experts(),
                          {{{"optimizer", "lamb"}, {"dp", 2}, {"ep", 2}},
                           {{"optimizer", "lamb"}, {"dp", 4}, {"ep", 2}, {"data_parallel", "zero1"}},
                           {{"optimizer", "lamb"}, {"tp", 2}, {"dp", 2}, {"ep", 2}}},
                          lamb);
}

// A router of 32 tokens sends 12 to each of four experts, where 16 would go on average.
TEST_F(ExecutorExperts, ComputeTheSameWithACapacity) {
    const json limited = experts({{"capacity_factor", 0.75}});
    expect_serial_results(limited, {{{"dp", 2}, {"ep", 2}},
                                    {{"dp", 4}, {"ep", 4}},
                                    {{"dp", 2}, {"ep", 2}, {"recompute", "full"}},
                                    {{"pp", 2}, {"dp", 2}, {"ep", 2}, {"schedule", "zero_bubble"}},
                                    {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero3"}},
                                    {{"tp", 2}},
                                    {{"tp", 2}, {"dp", 2}, {"ep", 2}}});
    EXPECT_NE(train(limited, as_usual)["losses"].back(), train(experts(), as_usual)["losses"].back()) << "nothing is dropped";
    // Room for all: of part of the tokens too, padded.
    expect_serial_results(experts({{"capacity_factor", 4}}), {{{"tp", 2}, {"dp", 2}, {"ep", 2}, {"sequence_parallel", true}},
                                                              {{"tp", 2}, {"ep", 2}, {"expert_tp", 1}, {"sequence_parallel", true}},
                                                              {{"cp", 2}, {"ep", 2}}});
}

// However tokens choose. Beside what is predicted goes the weight of each of 48 rows: half of four bytes each leave a rank, in four layers,
// forward and back, of two micro-batches and two ranks.
TEST_F(ExecutorExperts, ExchangeWithACapacityWhatIsPredicted) {
    const json run = train(experts({{"capacity_factor", 0.75}}), {{"dp", 2}, {"ep", 2}});
    ASSERT_FALSE(run.is_null());
    SpansByKind found = spans_of(run), predicted = predicted_spans();
    EXPECT_GT(predicted["expert_exchange"].bytes, 0);
    EXPECT_NEAR(found["expert_exchange"].bytes, predicted["expert_exchange"].bytes + 48 * 4 * 0.5 * 4 * 2 * 2 * 2, 1e-6);
    EXPECT_EQ(found["expert_exchange"].count, predicted["expert_exchange"].count);
}

// Of a sequence whose tokens several ranks have, these count together who chose which expert.
TEST_F(ExecutorExperts, ComputeTheSameWithALossForBalance) {
    const json balanced = experts({{"balance_loss", 1}});
    expect_serial_results(balanced, {{{"dp", 4}, {"ep", 2}},
                                     {{"dp", 2}, {"ep", 2}, {"micro_batch", 1}, {"recompute", "full"}},
                                     {{"pp", 2}, {"dp", 2}, {"ep", 2}, {"schedule", "zero_bubble"}},
                                     {{"tp", 2}},
                                     {{"tp", 2}, {"dp", 2}, {"ep", 2}, {"sequence_parallel", true}},
                                     {{"tp", 2}, {"ep", 2}, {"expert_tp", 1}, {"sequence_parallel", true}},
                                     {{"cp", 2}, {"ep", 2}},
                                     {{"cp", 2}, {"tp", 2}, {"sequence_parallel", true}, {"data_parallel", "zero1"}}});
    EXPECT_NE(train(balanced, as_usual)["losses"].back(), train(experts(), as_usual)["losses"].back());
}

TEST_F(ExecutorExperts, AreLoadedMoreEvenlyWithALossForBalance) {
    const double without = busiest({{"balance_loss", 0}}), with = busiest({{"balance_loss", 0.1}});
    EXPECT_GT(without, 1.5);
    EXPECT_LT(with - 1, 0.5 * (without - 1));
    std::cout << "    the busiest expert has " << without << " times the mean of its layer without, " << with << " with it\n";
}

// Of all layers.
std::vector<double> norms_of_biases(const json& run) {
    std::vector<double> norms;
    for (const json& p : run["parameters"])
        if (p["name"] == "moe.permute.bias") norms.push_back(p["norm"]);
    return norms;
}

// The biases of their choice move by what all ranks counted together.
TEST_F(ExecutorExperts, ComputeTheSameWithSigmoidRouters) {
    const json sigmoid = experts({{"sigmoid_router", true}, {"bias_update_speed", 0.01}});
    expect_serial_results(sigmoid, {{{"dp", 4}, {"ep", 2}},
                                    {{"dp", 2}, {"ep", 2}, {"micro_batch", 1}, {"recompute", "full"}},
                                    {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero1"}},
                                    {{"dp", 2}, {"data_parallel", "zero2"}, {"micro_batch", 1}, {"reduce_every_micro_batch", true}},
                                    {{"pp", 2}, {"dp", 2}, {"ep", 2}, {"schedule", "zero_bubble"}},
                                    {{"pp", 2}, {"vpp", 2}, {"tp", 2}, {"schedule", "interleaved"}},
                                    {{"tp", 2}, {"dp", 2}, {"ep", 2}},
                                    {{"tp", 2}, {"dp", 2}, {"ep", 2}, {"expert_tp", 1}, {"sequence_parallel", true}},
                                    {{"cp", 2}, {"dp", 2}, {"ep", 2}}});
    // Four steps of 0.01, up or down, of four experts: sqrt(4) 0.04 at most.
    const json run = train(sigmoid, as_usual, {"--steps", "4"});
    const std::vector<double> norms = norms_of_biases(run);
    EXPECT_THAT(norms, testing::SizeIs(4));
    EXPECT_THAT(norms, testing::Each(testing::AllOf(testing::Gt(0.009), testing::Lt(0.0801))));
}

// As DeepSeek-V3 has it: all at once.
TEST_F(ExecutorExperts, ComputeTheSameInGroups) {
    const std::vector<json> plans{
        {{"dp", 4}, {"ep", 2}}, {{"tp", 2}, {"sequence_parallel", true}, {"dp", 2}, {"ep", 2}}, {{"cp", 2}, {"tp", 2}}};
    const json groups{{"experts", 8}, {"topk", 3}, {"expert_groups", 4}, {"groups_per_token", 2}, {"balance_loss", 0.1}};
    expect_serial_results(experts(groups), plans);
    json all = groups;
    all.update({{"sigmoid_router", true}, {"shared_ffn_hidden", 16}});
    expect_serial_results(experts(all), plans);
}

// A step that does not count (fp16, a loss scale that is too large) leaves biases as they are, as it leaves weights.
TEST_F(ExecutorExperts, KeepBiasesInAStepThatDoesNotCount) {
    const json run = train(experts({{"sigmoid_router", true}}), {{"precision", "fp16"}}, {"--steps", "1", "--loss-scale", "1e30"});
    ASSERT_EQ(run["loss_scale"]["skipped_steps"], 1);
    for (const double norm : norms_of_biases(run)) EXPECT_EQ(norm, 0);
}

TEST_F(ExecutorExperts, AreLoadedMoreEvenlyWithBiases) {
    const auto with_biases = [&](double speed) { return busiest({{"sigmoid_router", true}, {"bias_update_speed", speed}}); };
    const double without = with_biases(0), with = with_biases(0.01);
    EXPECT_GT(without, 1.5);
    EXPECT_LT(with - 1, 0.5 * (without - 1));
    std::cout << "    the busiest expert has " << without << " times the mean of its layer without biases, " << with << " with them\n";
}

TEST_F(ExecutorExperts, OfEveryKindComputeTheSame) {
    const std::vector<json> plans{
        {{"dp", 2}, {"ep", 2}}, {{"tp", 2}, {"sequence_parallel", true}, {"dp", 2}, {"ep", 2}}, {{"pp", 2}, {"tp", 2}}};
    // Biases too, which the router's weights multiply, and experts that see every token.
    expect_serial_results(experts({{"shared_ffn_hidden", 16}, {"topk", 3}}, {{"mlp", "gelu"}, {"bias", true}}), plans);
    expect_serial_results(experts({{"topk", 1}, {"experts", 8}, {"dense_layers", 1}}, {{"mlp", "squared_relu"}}), plans);
    expect_serial_results(experts(as_usual, {{"mlp", "clamped_swiglu"}, {"bias", true}}), plans);
}

TEST_F(ExecutorExperts, ClipGradientsTheSame) {
    framework_ = {{"base", "sextant"}, {"clips_gradients", true}};
    expect_serial_results(experts(as_usual, {{"mlp", "gelu"}, {"bias", true}}),
                          {{{"dp", 4}, {"ep", 2}},
                           {{"dp", 4}, {"ep", 2}, {"data_parallel", "zero1"}},
                           {{"tp", 2}, {"dp", 2}, {"ep", 2}, {"sequence_parallel", true}}},
                          as_usual, {"--clip-norm", "0.1"});
}

// Sums in another order are rounded otherwise, and a token whose experts are nearly alike goes to another one.
TEST_F(ExecutorExperts, ComputeNearlyTheSameIn16Bits) {
    loss_tolerance_ = 5e-3;
    weight_tolerance_ = 2e-2;
    for (const char* precision : {"bf16", "fp16"})
        expect_serial_results(experts(), {{{"precision", precision}, {"dp", 2}, {"ep", 2}}}, {{"precision", precision}});
    const json sigmoid = experts({{"sigmoid_router", true}});
    for (const char* precision : {"bf16", "fp16"})
        expect_serial_results(sigmoid, {{{"precision", precision}, {"dp", 2}, {"ep", 2}}}, {{"precision", precision}});
    // Its gradients too are of the loss as it is scaled.
    expect_serial_results(experts({{"balance_loss", 1}}), {{{"precision", "fp16"}, {"dp", 2}, {"ep", 2}}}, {{"precision", "fp16"}});
}

// What load a prediction is made for makes no difference to what is computed.
TEST_F(ExecutorExperts, ComputeTheSameForAnyLoadThatIsPredicted) {
    const json plan{{"dp", 2}, {"ep", 2}};
    EXPECT_EQ(train(experts({{"imbalance", 1.7}}), plan)["losses"], train(experts(), plan)["losses"]);
}

TEST_F(ExecutorExperts, LearnTheTask) {
    const json run =
        train(experts({{"shared_ffn_hidden", 16}}), {{"dp", 2}, {"ep", 2}, {"micro_batch", 8}, {"global_batch", 16}, {"optimizer", "adam"}},
              {"--steps", "30", "--learning-rate", "0.01"});
    ASSERT_FALSE(run.is_null());
    EXPECT_LT(run["losses"].back().get<double>(), 0.6 * run["losses"].front().get<double>());
}

TEST_F(ExecutorExperts, SayHowUnevenlyTheyAreLoaded) {
    const json one = train(experts(), as_usual), two = train(experts(), {{"dp", 2}, {"ep", 2}});
    ASSERT_EQ(one["expert_imbalance"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        // 256 rows for four experts cannot be more than four times the mean; no draw is as even as 1.
        EXPECT_GT(one["expert_imbalance"][i].get<double>(), 1);
        EXPECT_LT(one["expert_imbalance"][i].get<double>(), 2);
        EXPECT_NEAR(one["expert_imbalance"][i].get<double>(), two["expert_imbalance"][i].get<double>(), 1e-12);
        // Two experts of a rank are together no farther from the mean than the one that is farthest.
        EXPECT_GT(two["expert_rank_imbalance"][i].get<double>(), 1);
        EXPECT_LT(two["expert_rank_imbalance"][i].get<double>(), two["expert_imbalance"][i].get<double>());
    }
    EXPECT_FALSE(one.contains("expert_rank_imbalance"));
    EXPECT_FALSE(train(transformer(true), as_usual).contains("expert_imbalance"));
}

// Spans one by one, and of all-to-alls the bytes: as many rows on all ranks together, and with each the router's weight, 4 bytes beside
// the row's 128.
TEST_F(ExecutorExperts, ExchangeWhatIsPredicted) {
    for (const json& plan : std::vector<json>{{{"dp", 4}, {"ep", 2}},
                                              {{"tp", 2}, {"dp", 2}, {"ep", 2}, {"sequence_parallel", true}},
                                              {{"dp", 2}, {"ep", 2}, {"recompute", "full"}}}) {
        SCOPED_TRACE(plan.dump());
        const json run = train(experts(), plan);
        ASSERT_FALSE(run.is_null());
        SpansByKind found = spans_of(run), predicted = predicted_spans();
        EXPECT_EQ(found["expert_exchange"].count, predicted["expert_exchange"].count);
        EXPECT_GT(found["expert_exchange"].bytes, predicted["expert_exchange"].bytes);
        EXPECT_LT(found["expert_exchange"].bytes, predicted["expert_exchange"].bytes * (1 + 4.0 / 128));
        if (plan.contains("tp")) continue;  // tensor ranks sum gradients of a part of the tokens at the end, too
        for (const char* kind : {"data_exchange", "forward", "backward", "recompute"})
            EXPECT_EQ(found[kind].count, predicted[kind].count) << kind;
    }
}

TEST_F(ExecutorExperts, RefuseWhatTheyCannotRun) {
    const auto refused = [&](const json& workload, const json& plan, int ranks) {
        const ProcessResult result = start(workload, plan, ranks);
        EXPECT_EQ(result.exit_code, 2) << result.err;
        return result.err;
    };
    EXPECT_THAT(refused(experts(as_usual, {{"mlp", "relu"}}), as_usual, 1), HasSubstr("ReLU"));
    EXPECT_THAT(refused(experts(), {{"dp", 2}, {"ep", 2}, {"token_deduplication", true}}, 2), HasSubstr("token_deduplication"));
    EXPECT_THAT(refused(experts(), {{"tp", 2}, {"expert_tp", 1}, {"sequence_parallel", true}}, 2), HasSubstr("ep = tp / expert_tp"));
    EXPECT_THAT(refused(experts(), {{"data_parallel", "parameter_server"}, {"dp", 2}}, 3),
                HasSubstr("parameter servers do not hold experts"));
}

}  // namespace
}  // namespace sextant
