#include "model/report/better_settings.hpp"

#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

std::vector<PricedSetting> settings_of(const std::string& name, const std::vector<std::string>& overrides = {}) {
    const Prepared job = prepare(bundled_scenario(name, overrides));
    return better_settings(job, estimate(job).fits());
}
auto sets(const std::string& part) { return Field(&PricedSetting::set, Contains(HasSubstr(part))); }

// The price of a setting is that of the scenario with it.
TEST_P(EveryScenario, gains_by_each_named_setting_what_was_said) {
    const Seconds now = estimate(prepare(bundled_scenario(GetParam()))).step;
    for (const PricedSetting& s : settings_of(GetParam())) {
        const Estimate then = estimate(prepare(bundled_scenario(GetParam(), s.set)));
        EXPECT_NEAR(s.step / then.step, 1, 1e-9) << s.set.front();
        EXPECT_EQ(s.memory, then.peak_memory) << s.set.front();
        EXPECT_TRUE(then.fits()) << s.set.front();
        if (s.per_sample || s.gain <= 0) continue;
        EXPECT_NEAR(s.gain, 1 - then.step / now, 1e-9) << s.set.front();
    }
}

TEST(BetterSettings, NamesTheGroupOfShardsThatKeepsGathersInsideTheNode) {
    EXPECT_THAT(settings_of("fsdp-on-ethernet").front().set, ElementsAre("plan.shard_group=8"));
    EXPECT_NEAR(settings_of("fsdp-on-ethernet").front().gain, 0.15, 0.02);
}

TEST(BetterSettings, NamesNoTypeThatTheDeviceDoesNotMultiply) {
    EXPECT_THAT(settings_of("precision-fp16-a100"), Each(Not(sets("plan.precision"))));
    EXPECT_THAT(settings_of("precision-fp32-a100").front().set, ElementsAre("plan.precision=bf16"));
}

TEST(BetterSettings, NamesATypeThatTheDeviceMultipliesInsteadOfOneThatItDoesNot) {
    EXPECT_THAT(settings_of("precision-fp16-a100", {"hardware.cluster=dgx1-v100", "plan.precision=bf16"}),
                Contains(sets("plan.precision=fp16")));
    EXPECT_THAT(settings_of("inference-llama-2-13b-8xa100", {"plan.precision=fp32"}), Contains(sets("plan.precision=bf16")));
}

// 16 bits halve what is kept also where the device computes in 32.
TEST(BetterSettings, NamesANarrowTypeThatIsExpandedWhereNothingElseCounts) {
    EXPECT_THAT(settings_of("resnet50-lisa-4x1080ti", {"plan.micro_batch=160", "plan.global_batch=640"}),
                Contains(sets("plan.precision=fp16")));
    EXPECT_THAT(settings_of("resnet50-lisa-4x1080ti"), Each(Not(sets("plan.precision=fp16"))));  // it fits
}

TEST(BetterSettings, PipelinesStagesOfWhichOneWorksAtATime) {
    EXPECT_THAT(settings_of("model-parallel-sequential").front().set,
                ElementsAre("plan.schedule=1f1b", "plan.micro_batch=2", "plan.global_batch=16"));
    EXPECT_THAT(predict(bundled_scenario("model-parallel-sequential")).bottleneck.why, HasSubstr("a stage waits for the others (bubble)"));
    EXPECT_THAT(predict(bundled_scenario("model-parallel-pipeline")).bottleneck.why, Not(HasSubstr("(bubble)")));
}

TEST(BetterSettings, NamesNothingThatTheFrameworkLacks) {
    EXPECT_THAT(settings_of("llama-3-8b-fsdp-64xh100"), Each(Not(sets("plan.data_parallel=zero1"))));
    EXPECT_THAT(settings_of("llama-3-8b-fsdp-64xh100", {"plan.data_parallel=zero2"}), Each(Not(sets("plan.data_parallel=zero1"))));
}

TEST(BetterSettings, OfAJobThatDoesNotFitFitsAndPutsAnotherBatchLast) {
    const std::vector<PricedSetting> settings = settings_of("does-not-fit");
    EXPECT_THAT(settings, Contains(sets("plan.data_parallel=zero3")));  // DeepSpeed sums gradients whole under the others
    EXPECT_THAT(settings, Each(Not(sets("plan.micro_batch"))));         // it is at 1
    // 18.9 of 51.9 GB are logits, on 48 GB.
    EXPECT_THAT(settings_of("llama-3-8b-fsdp-64xh100",
                            {"workload.seq_len=8192", "hardware.cluster=pcie-8xl40s", "hardware.nodes=1", "plan.dp=8", "plan.micro_batch=3",
                             "plan.global_batch=24", "plan.data_parallel=zero3", "plan.recompute=full", "framework=pytorch-fsdp2"}),
                Contains(sets("plan.head_chunks=16")));
    const std::vector<PricedSetting> others = settings_of("fsdp-on-ethernet");
    EXPECT_TRUE(std::ranges::is_sorted(others, {}, &PricedSetting::per_sample));
}

}  // namespace
}  // namespace sextant
