#include "model/workload/builders.hpp"
#include "tests/base/refusal.hpp"
#include "tests/workload/network_sums.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Pointers of all that is wrong with building `spec` cut by `shard`.
std::vector<std::string> refusals(const TransformerSpec& spec, const Shard& shard) {
    return refused_pointers([&] { build_transformer(spec, shard); });
}

TEST(TransformerRefusal, NamesEveryProblemAtOnce) {
    // tp 7 divides neither 12 heads nor 3072 columns, and neither is a multiple of the other for key-value heads; GPT-2 has no experts; 2
    // cp = 6 does not divide 1024.
    EXPECT_THAT(refusals(spec_of("gpt2"), {.tensor = 7, .context = 3, .expert = 2}),
                UnorderedElementsAre("/plan/tp", "/plan/tp", "/plan/tp", "/plan/ep", "/plan/cp"));
}

TEST(TransformerRefusal, SaysWhatDoesNotDivideWhat) {
    EXPECT_THAT(refusal_by([] { return build_transformer(spec_of("gpt2"), {.tensor = 8}); }),
                HasSubstr("tp must divide the attention heads: 8 does not divide 12"));
}

TEST(TransformerRefusal, DegreesBelowOneAreRefusedBeforeAnythingDividesByThem) {
    EXPECT_THAT(refusals(spec_of("gpt2"), {.micro_batch = 0, .tensor = 0, .context = -1, .expert = 0, .expert_tensor = -1}),
                ElementsAre("/plan/micro_batch", "/plan/tp", "/plan/cp", "/plan/ep", "/plan/expert_tp"));
}

TEST(TransformerRefusal, ExtentsThatAreZeroNegativeOrHugeAreRefused) {
    TransformerSpec spec;
    spec.heads = 0;
    spec.hidden = -768;
    spec.vocab = std::numeric_limits<std::int64_t>::max();
    spec.sliding_window_every = 0;
    EXPECT_THAT(refusals(spec, {}),
                UnorderedElementsAre("/workload/heads", "/workload/hidden", "/workload/vocab", "/workload/sliding_window_every"));
}

TEST(TransformerRefusal, WhatAMixtureOfExpertsCountsWithIsANumberWithinItsBounds) {
    TransformerSpec spec = spec_of("mixtral-8x7b");
    spec.moe->capacity_factor = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(refusals(spec, {}), ElementsAre("/workload/moe/capacity_factor"));
    spec.moe->capacity_factor = 0;
    for (const double imbalance : {0.9, 1.0 + static_cast<double>(spec.moe->experts), std::numeric_limits<double>::quiet_NaN()}) {
        spec.moe->imbalance = imbalance;
        EXPECT_THAT(refusals(spec, {}), ElementsAre("/workload/moe/imbalance"));
    }
    spec.moe->imbalance = 1;
    for (const double weight : {-0.01, 101.0, std::numeric_limits<double>::quiet_NaN()}) {
        spec.moe->balance_loss = weight;
        EXPECT_THAT(refusals(spec, {}), ElementsAre("/workload/moe/balance_loss"));
    }
    spec.moe->balance_loss = 0;
    for (const double speed : {-0.001, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        spec.moe->bias_update_speed = speed;
        EXPECT_THAT(refusals(spec, {}), ElementsAre("/workload/moe/bias_update_speed"));
    }
}

TEST(TransformerRefusal, ALossOfModulesWeighsSomethingSensible) {
    TransformerSpec spec = spec_of("llama-2-7b");
    for (const double weight : {-0.1, 101.0, std::numeric_limits<double>::quiet_NaN()}) {
        spec.mtp_loss_weight = weight;
        EXPECT_THAT(refusals(spec, {}), ElementsAre("/workload/mtp_loss_weight"));
    }
}

TEST(TransformerRefusal, GroupsOfExpertsAreAlikeAndHaveWhatATokenNeeds) {
    TransformerSpec spec = spec_of("mixtral-8x7b");  // 2 of 8 experts
    spec.moe->expert_groups = 4;
    EXPECT_THAT(refusals(spec, {}), IsEmpty());
    spec.moe->topk = 3;
    EXPECT_THAT(refusals(spec, {}), ElementsAre("/workload/moe/groups_per_token"));
    spec.moe->groups_per_token = 2;
    EXPECT_THAT(refusals(spec, {}), IsEmpty());
    spec.moe->expert_groups = 3;
    EXPECT_THAT(refusals(spec, {}), ElementsAre("/workload/moe/expert_groups"));
}

TEST(TransformerRefusal, WhatIsLargestStillBuilds) {
    TransformerSpec spec;
    spec.heads = spec.kv_heads = 10'000;
    spec.hidden = spec.ffn_hidden = spec.seq_len = 100'000'000;
    for (const bool flash : {false, true}) EXPECT_THAT(refusals(spec, {.micro_batch = 100, .flash_attention = flash}), IsEmpty());
    EXPECT_THAT(refusals(spec, {.micro_batch = 101}), ElementsAre("/plan/micro_batch"));
}

TEST(TransformerRefusal, AnEncoderHasNoLanguageModelHeadAndADecoderNoMaskedOne) {
    TransformerSpec bert = spec_of("bert-base");
    bert.head = HeadKind::language_model;
    EXPECT_THAT(refusals(bert, {}), ElementsAre("/workload/head"));
    TransformerSpec gpt = spec_of("gpt2");
    gpt.head = HeadKind::masked_lm_nsp;
    EXPECT_THAT(refusals(gpt, {}), ElementsAre("/workload/head"));
}

TEST(TransformerRefusal, ExpertsThatDoNotDivideAreNamed) {
    EXPECT_THAT(refusals(spec_of("mixtral-8x7b"), {.expert = 3}), ElementsAre("/plan/ep"));
    // Without sequence parallelism each tensor rank would route every token.
    EXPECT_THAT(refusals(spec_of("mixtral-8x7b"), {.tensor = 2, .expert = 8, .expert_tensor = 1}), ElementsAre("/plan/expert_tp"));
    EXPECT_THAT(refusals(spec_of("mixtral-8x7b"), {.tensor = 2, .expert = 8, .expert_tensor = 1, .sequence_parallel = true}), IsEmpty());
}

TEST(TransformerRefusal, KeyValueHeadsMayBeFewerThanTensorRanks) {
    EXPECT_THAT(refusals(spec_of("llama-2-70b"), {.tensor = 16}), IsEmpty());
    TransformerSpec grouped = spec_of("gpt2");
    grouped.kv_heads = 4;
    EXPECT_THAT(refusals(grouped, {.tensor = 6}), ElementsAre("/plan/tp"));  // neither of 6 and 4 divides the other
}

TEST(TransformerRefusal, SequenceParallelismCutsWhatContextParallelismLeaves) {
    // 512 tokens over cp 2 (two parts each): 256 a rank, which tp 3 does not divide; 12 heads and 3072 columns it does.
    TransformerSpec spec = spec_of("gpt2");
    spec.seq_len = 512;
    EXPECT_THAT(refusals(spec, {.tensor = 3, .context = 2, .sequence_parallel = true}), ElementsAre("/plan/sequence_parallel"));
}

}  // namespace
}  // namespace sextant
