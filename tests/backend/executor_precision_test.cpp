// Training in 16 bits, as it is used: processes under mpirun. Every plan computes what one rank computes with the same batch, bf16 to 2e-3
// in the losses and 2 % of the norm in the weights, fp16 to a tenth of that; and learns as fp32 does.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace sextant {
namespace {

using testing::HasSubstr;

class ExecutorInSixteenBits : public MpiTest {
protected:
    void expect_serial(const char* precision, const json& workload, std::vector<json> plans,
                       const std::vector<std::string>& arguments = {}) {
        loss_tolerance_ = precision == std::string("bf16") ? 2e-3 : 2e-4;
        weight_tolerance_ = 10 * loss_tolerance_;
        for (json& plan : plans) plan["precision"] = precision;
        expect_serial_results(workload, plans, {{"precision", precision}}, arguments);
    }
    [[nodiscard]] static double peak(const json& run) { return run["environment"]["ranks"][0]["peak_memory_bytes"].get<double>(); }
};

TEST_F(ExecutorInSixteenBits, ComputesTheSameUnderEveryPlan) {
    expect_serial("bf16", transformer(true),
                  {{{"dp", 2}},
                   {{"dp", 2}, {"reduce_every_micro_batch", true}, {"recompute", "full"}},
                   {{"tp", 2}},
                   {{"tp", 2}, {"sequence_parallel", true}},
                   {{"cp", 2}},
                   {{"pp", 2}},
                   {{"pp", 2}, {"vpp", 2}, {"schedule", "interleaved"}},
                   {{"pp", 2}, {"schedule", "zero_bubble"}},
                   {{"dp", 2}, {"data_parallel", "zero1"}},
                   {{"dp", 2}, {"tp", 2}, {"data_parallel", "zero2"}},
                   {{"dp", 2}, {"data_parallel", "zero3"}}});
    expect_serial("bf16", transformer(false), {{{"dp", 2}, {"pp", 2}, {"data_parallel", "zero3"}}});
    expect_serial("bf16", perceptron(), {{{"tp", 2}}, {{"dp", 2}, {"data_parallel", "zero3"}}});
}

TEST_F(ExecutorInSixteenBits, ComputesTheSameInHalfPrecisionToo) {
    expect_serial("fp16", transformer(true),
                  {{{"dp", 2}},
                   {{"tp", 2}, {"sequence_parallel", true}},
                   {{"pp", 2}, {"schedule", "zero_bubble"}},
                   {{"dp", 2}, {"data_parallel", "zero2"}}});
    expect_serial("fp16", perceptron(), {{{"dp", 2}, {"data_parallel", "zero3"}}});
}

TEST_F(ExecutorInSixteenBits, ClipsTheSameHoweverGradientsAreCut) {
    framework_ = {{"base", "sextant"}, {"clips_gradients", true}};
    for (const char* precision : {"bf16", "fp16"})
        expect_serial(precision, transformer(true), {{{"dp", 2}}, {{"tp", 2}, {"pp", 2}}, {{"dp", 2}, {"data_parallel", "zero2"}}},
                      {"--clip-norm", "0.1"});
}

// Two hundred steps: what is lost in one step is not lost for good, as updates go to the masters.
TEST_F(ExecutorInSixteenBits, LearnsAsWellAsInSinglePrecision) {
    const auto last_loss = [&](const json& workload, const char* precision) {
        const json run = train(workload, {{"precision", precision}, {"optimizer", "adam"}}, {"--steps", "200", "--learning-rate", "0.002"});
        return run.is_null() ? 0 : run["losses"].back().get<double>();
    };
    for (const json& workload : {transformer(true), perceptron()}) {
        const double single = last_loss(workload, "fp32"), first = workload.contains("mlp") ? 2.3 : 4.2;
        EXPECT_LT(single, 0.5 * first);
        EXPECT_NEAR(last_loss(workload, "bf16"), single, 0.02 * first) << workload;
        EXPECT_NEAR(last_loss(workload, "fp16"), single, 0.01 * first) << workload;
    }
}

// The loss begins 2^30 times as large as it is: gradients are too large for fp16 until it has halved a few times.
TEST_F(ExecutorInSixteenBits, LeavesAStepOutOnAllRanksAlike) {
    const std::vector<std::string> large{"--loss-scale", "1073741824", "--steps", "3"};
    expect_serial("fp16", transformer(true), {{{"dp", 2}}, {{"pp", 2}}, {{"dp", 2}, {"data_parallel", "zero2"}}}, large);
    const json skipping = train(transformer(true), {{"precision", "fp16"}, {"dp", 2}}, large);
    ASSERT_FALSE(skipping.is_null());
    const int skipped = skipping["loss_scale"]["skipped_steps"];
    ASSERT_GT(skipped, 0);
    EXPECT_EQ(skipping["loss_scale"]["last"].get<double>(), std::ldexp(1.0, 30 - skipped));
    const json usual = train(transformer(true), {{"precision", "fp16"}, {"dp", 2}});
    ASSERT_FALSE(usual.is_null());
    EXPECT_EQ(usual["loss_scale"]["skipped_steps"], 0);
    EXPECT_EQ(usual["loss_scale"]["last"], 65536);
    EXPECT_FALSE(train(transformer(true), {{"precision", "bf16"}}).contains("loss_scale"));
}

// 1.877 million parameters (see HoldsLessMemoryInShards): weights of two bytes, and gradients, masters and momenta of four: 26.3 MB. With
// all of it in two shards 13.1 MB, and of one block at a time weights, gradients and what a reduction brings: 0.53 + 1.05 + 0.53 MB.
TEST_F(ExecutorInSixteenBits, HoldsMastersBesideWeights) {
    const json deep{{"mlp", {{"widths", {64, 512, 512, 512, 512, 512, 512, 512, 512, 10}}}}};
    framework_ = {{"base", "sextant"}, {"reshards_after_forward", true}};
    for (const char* precision : {"bf16", "fp16"}) {
        EXPECT_NEAR(peak(train(deep, {{"precision", precision}, {"dp", 2}})), 26.3e6, 0.4e6);
        EXPECT_NEAR(peak(train(deep, {{"precision", precision}, {"dp", 2}, {"data_parallel", "zero3"}})), 15.2e6, 0.8e6);
    }
}

// Activations take most of this one's memory.
TEST_F(ExecutorInSixteenBits, HoldsWhatIsPredicted) {
    json workload = transformer(true);
    workload["transformer"]["seq_len"] = 256;
    double single = 0;
    for (const char* precision : {"fp32", "bf16"}) {
        const json plan{{"precision", precision}, {"micro_batch", 4}};
        const json run = train(workload, plan);
        ASSERT_FALSE(run.is_null());
        EXPECT_NEAR(peak(run) / predicted_peaks()[0], 1, 0.1) << precision;
        if (single > 0) {
            EXPECT_LT(peak(run), 0.7 * single);
        }
        single = peak(run);
    }
}

TEST_F(ExecutorInSixteenBits, RefusesWhatItDoesNotDo) {
    const auto refused = [&](const json& plan, const char* why) {
        EXPECT_THAT(start(transformer(false), plan, 1), exits_with(2, HasSubstr(why)));
    };
    refused({{"precision", "fp8"}}, "products run in fp32, bf16 and fp16");
    refused({{"precision", {{"compute", "bf16"}, {"gradient", "bf16"}}}}, "gradients of weights are kept and reduced in fp32");
    refused({{"precision", "bf16"}, {"data_parallel", "parameter_server"}}, "parameter servers hold and send fp32");
    framework_ = "pytorch-ddp";
    refused({{"precision", "bf16"}}, "nothing is cast for each use");
}

}  // namespace
}  // namespace sextant
