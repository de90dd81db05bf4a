#include "model/report/better_settings.hpp"

#include "model/io/scenario/scenario_edits.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/predict/mlp_job.hpp"

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

// With what --set makes it.
struct NamedSetting : PricedSetting {
    std::vector<std::string> set;
};
std::vector<NamedSetting> settings_of(const Scenario& scenario) {
    const Prepared job = prepare(scenario);
    std::vector<NamedSetting> list;
    for (PricedSetting& s : better_settings(job, estimate(job).fits())) {
        list.push_back({std::move(s), {}});
        for (const auto& [path, value] : edits_between(scenario, list.back().job)) list.back().set.push_back(path + "=" + value);
    }
    return list;
}
std::vector<NamedSetting> settings_of(const std::string& name, const std::vector<std::string>& overrides = {}) {
    return settings_of(bundled_scenario(name, overrides));
}
auto sets(const std::string& part) { return Field(&NamedSetting::set, Contains(HasSubstr(part))); }

// The price of a setting is that of the scenario with it.
void expect_gains_as_said(const std::string& name, const std::vector<std::string>& overrides = {}) {
    const Seconds now = estimate(prepare(bundled_scenario(name, overrides))).step;
    for (const NamedSetting& s : settings_of(name, overrides)) {
        std::vector<std::string> all = overrides;
        all.insert(all.end(), s.set.begin(), s.set.end());
        const Estimate then = estimate(prepare(bundled_scenario(name, all)));
        EXPECT_NEAR(s.step / then.step, 1, 1e-9) << s.set.front();
        EXPECT_EQ(s.memory, then.peak_memory) << s.set.front();
        EXPECT_TRUE(then.fits()) << s.set.front();
        if (s.per_sample || s.gain <= 0) continue;
        EXPECT_NEAR(s.gain, 1 - then.step / now, 1e-9) << s.set.front();
    }
}
TEST_P(EveryScenario, GainsByEachNamedSettingWhatWasSaid) { expect_gains_as_said(GetParam()); }

// How slow the slower kind is depends on what is changed.
TEST(BetterSettings, OfTwoKindsOfDevicesGainWhatWasSaid) {
    expect_gains_as_said("two-kinds-of-gpus", {"hardware.straggler.batches=by_speed"});
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
                ElementsAre("plan.micro_batch=2", "plan.schedule=1f1b", "plan.grad_accum=8"));
    EXPECT_THAT(predict(bundled_scenario("model-parallel-sequential")).bottleneck.why, HasSubstr("a stage waits for the others (bubble)"));
    EXPECT_THAT(predict(bundled_scenario("model-parallel-pipeline")).bottleneck.why, Not(HasSubstr("(bubble)")));
}

TEST(BetterSettings, NamesNothingThatTheFrameworkLacks) {
    EXPECT_THAT(settings_of("llama-3-8b-fsdp-64xh100"), Each(Not(sets("plan.data_parallel=zero1"))));
    EXPECT_THAT(settings_of("llama-3-8b-fsdp-64xh100", {"plan.data_parallel=zero2"}), Each(Not(sets("plan.data_parallel=zero1"))));
}

TEST(BetterSettings, OfAJobThatDoesNotFitFitsAndPutsAnotherBatchLast) {
    const std::vector<NamedSetting> settings = settings_of("does-not-fit");
    EXPECT_THAT(settings, Contains(sets("plan.data_parallel=zero3")));  // DeepSpeed sums gradients whole under the others
    EXPECT_THAT(settings, Each(Not(sets("plan.micro_batch"))));         // it is at 1
    // 25.2 of 54.3 GB are logits, on 48 GB.
    EXPECT_THAT(settings_of("llama-3-8b-fsdp-64xh100",
                            {"workload.seq_len=8192", "hardware.cluster=pcie-8xl40s", "hardware.nodes=1", "plan.dp=8", "plan.micro_batch=4",
                             "plan.global_batch=32", "plan.data_parallel=zero3", "plan.recompute=full", "framework=pytorch-fsdp2"}),
                Contains(sets("plan.head_chunks=16")));
    const std::vector<NamedSetting> others = settings_of("fsdp-on-ethernet");
    EXPECT_TRUE(std::ranges::is_sorted(others, {}, &NamedSetting::per_sample));
}

// Else images change their layout around tensor cores, forward and back.
TEST(BetterSettings, KeepsImagesAsTensorCoresTakeThem) {
    const NamedSetting first = settings_of("resnet50-snellius-4xa100").front();
    EXPECT_THAT(first.set, ElementsAre("plan.channels_last=true"));
    EXPECT_GT(first.gain, 0.2);
    EXPECT_THAT(settings_of("resnet50-lisa-4x1080ti"), Each(Not(sets("channels_last"))));  // no tensor cores
}

// Four copies, one at half speed: 48 g for four batches. Without it three in 24 g: 8 g for one instead of 12.
TEST(BetterSettings, LeavesTheSlowDeviceOut) {
    Scenario job = products_job(8);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    EXPECT_THAT(settings_of(job), Each(Not(sets("straggler"))));
    job.straggler = Straggler{1, 0.5};
    const std::vector<NamedSetting> settings = settings_of(job);
    const auto without = std::ranges::find_if(settings, [](const NamedSetting& s) { return !s.job.straggler; });
    ASSERT_NE(without, settings.end());
    EXPECT_THAT(without->set, ElementsAre("hardware.straggler=null", "plan.dp=3", "plan.global_batch=3072"));
    EXPECT_NEAR(without->gain, 1.0 / 3, 1e-9);
    EXPECT_TRUE(without->per_sample);
}

// All that workers send goes over the links of the servers, which are the limit: with four times as many it takes a quarter. Over sockets
// an all-reduce has so many steps that it takes longer; inside one node it needs no network at all.
TEST(BetterSettings, SpreadsParametersOverMoreServersOrOverNone) {
    const std::vector<NamedSetting> settings = settings_of("parameter-server-sync");
    EXPECT_THAT(settings, Contains(sets("plan.parameter_servers=16")));
    EXPECT_THAT(settings, Contains(sets("plan.servers_on_workers=true")));
    EXPECT_THAT(settings, Each(Not(sets("plan.data_parallel=all_reduce"))));
    EXPECT_THAT(settings_of("resnet50-snellius-2-nodes"), Each(Not(sets("parameter_servers"))));
    Scenario job = mlp_job(8);
    job.plan.dp = 4;
    job.plan.global_batch *= 4;
    job.plan.data_parallel = DataParallel::parameter_server;
    EXPECT_THAT(settings_of(job), Contains(sets("plan.data_parallel=all_reduce")));
}

// Every product has a side of 1023, which narrow loads make 1 / 0.6 times as long; 1024 are a whole number of them.
TEST(BetterSettings, PadsWidthsToWholeLoads) {
    Scenario job = products_job(8);
    auto& widths = std::get<MlpSpec>(job.workload.spec).widths;
    EXPECT_THAT(settings_of(job), Each(Not(sets("workload."))));
    widths = {1024, 1023, 1024};
    const std::vector<NamedSetting> settings = settings_of(job);
    ASSERT_THAT(settings, Contains(sets("workload.widths=[1024,1024,1024]")));
    EXPECT_NEAR(std::ranges::find_if(settings, [](const NamedSetting& s) { return s.set.front().starts_with("workload."); })->gain, 0.4,
                1e-2);
    EXPECT_THAT(settings_of("small-batch-launch-bound", {"workload=gpt2-medium", "plan.precision=bf16", "plan.cuda_graph=true",
                                                         "plan.micro_batch=16", "workload.vocab=50257"}),
                Contains(sets("workload.vocab=50264")));
}

// Kernels at half the speed of those that are built for these cores take twice as long; on a GPU its maker's libraries are.
TEST(BetterSettings, NamesABuildForTheseCores) {
    const std::string portable = R"(framework={"base": "sextant", "native_build": 0.5})";
    const std::vector<NamedSetting> settings = settings_of("default", {portable});
    EXPECT_THAT(settings.front().set, ElementsAre("framework.native_build=1.0"));
    EXPECT_GT(settings.front().gain, 0.25);
    EXPECT_THAT(settings_of("default"), Each(Not(sets("native_build"))));
    EXPECT_THAT(settings_of("resnet50-snellius-4xa100", {R"(framework={"base": "horovod-pytorch", "native_build": 0.5})"}),
                Each(Not(sets("native_build"))));
}

// A model below adapters is of 16 bits from the moment on that products are, as in a file that says so.
TEST(BetterSettings, OfAdaptersInNarrowerTypesAreWhatTheirFilesComeTo) {
    const std::vector<std::string> wide{"framework=tf-mirrored", "plan.precision=fp32"};
    const Report r = predict(bundled_scenario("llama-3-8b-adapters", wide));
    const auto narrower =
        std::ranges::find_if(r.bottleneck.settings, [](const PricedSetting& s) { return s.job.plan.precision.compute == DataType::bf16; });
    ASSERT_NE(narrower, r.bottleneck.settings.end());
    const Estimate then = estimate(prepare(bundled_scenario("llama-3-8b-adapters", {wide[0], "plan.precision=bf16"})));
    EXPECT_EQ(then.peak_memory, narrower->memory);
    EXPECT_EQ(then.step, narrower->step);
}

// With the library that it would have there, of sockets where the job goes over Ethernet, and frozen weights as narrow.
TEST(Elsewhere, AJobUnderAnotherFrameworkIsThatOfAFileThatNamesIt) {
    Library library = open_library(std::filesystem::path(SEXTANT_SOURCE_DIR) / "hardware_profiles");
    const std::pair<const char*, const char*> jobs[] = {{"two-hosts-gigabit", "hardware.ethernet=true"},
                                                        {"llama-3-8b-adapters", "hardware.ethernet=false"}};
    for (const auto& [name, set] : jobs)
        for (const Scenario& place : under_other_frameworks(library, bundled_scenario(name, {set}))) {
            const Scenario named = bundled_scenario(name, {set, "framework=" + place.framework.name});
            EXPECT_EQ(place.library.name, named.library.name) << name << ' ' << place.framework.name;
            EXPECT_EQ(place.plan.autocast, named.plan.autocast) << name << ' ' << place.framework.name;
        }
}

// Where the job does not fit, something of the library that it fits under: of frameworks one that shards, of devices one with more memory,
// and nodes of cores. Each set again comes to what was said, whatever the scenario says of its own hardware.
TEST(Elsewhere, NamesWhatAJobFitsUnderThatDoesNotFit) {
    Library library = open_library(std::filesystem::path(SEXTANT_SOURCE_DIR) / "hardware_profiles");
    const std::vector<std::string> plain{"framework=pytorch-ddp"};
    const std::vector<std::string> with_changes{plain.front(), "hardware.network_bandwidth=1 Gbit/s", "hardware.cores=8",
                                                "hardware.device.memory=30 GiB", "hardware.step_noise=0.05"};
    for (const auto& overrides : {plain, with_changes}) {
        Report r = predict(bundled_scenario("does-not-fit", overrides));
        look_elsewhere(library, r);
        std::vector<std::string> what;
        for (const PricedSetting& s : r.bottleneck.elsewhere) {
            std::vector<std::string> set = overrides;
            for (const auto& [path, value] : edits_between(r.job, s.job)) set.push_back(path + "=" + value);
            const std::string& first = set.at(overrides.size());
            what.push_back(first.substr(0, first.find('=')));
            const Estimate then = estimate(prepare(bundled_scenario("does-not-fit", set)));
            EXPECT_TRUE(then.fits()) << first;
            EXPECT_NEAR(then.step / s.step, 1, 1e-9) << first;
            EXPECT_EQ(then.peak_memory, s.memory) << first;
        }
        // The most alike: started as PyTorch's own is, though others may be faster.
        EXPECT_EQ(r.bottleneck.elsewhere.front().job.framework.starter, RankStarter::torchrun);
        EXPECT_THAT(what, ElementsAre("framework", "hardware.device", "hardware.device", "hardware"));
    }
    Report fits = predict(bundled_scenario("default"));
    look_elsewhere(library, fits);
    EXPECT_THAT(fits.bottleneck.elsewhere, testing::IsEmpty());
}

}  // namespace
}  // namespace sextant
