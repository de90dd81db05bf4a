// `sextant plan` and `sextant scale` as scripts use them: exit codes, the keys of their JSON, files that they write.
#include "model/base/quantity_text.hpp"
#include "model/predict/estimate.hpp"
#include "tests/cli/process_json.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <unistd.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

ProcessResult run_with(const std::string& command, const std::string& scenario, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{command, scenario};
    words.insert(words.end(), more.begin(), more.end());
    return run_sextant(words);
}
ProcessResult plan_default(const std::vector<std::string>& more = {}) { return run_with("plan", "scenarios/default.json", more); }

std::filesystem::path scratch(const std::string& name) { return testing::TempDir() + "sextant_" + std::to_string(::getpid()) + "_" + name; }

TEST(Plan, ExitsWith0AndWritesEveryPartOfTheAnswer) {
    const ProcessResult r = plan_default();
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.err, IsEmpty());
    for (const char* part :
         {"Best plans, highest throughput first", "the scenario's own plan", "Pareto front of throughput, memory and cost",
          "Plan 1 with one setting changed", "Why not the obvious?", "plain data parallelism", "simulated"})
        EXPECT_THAT(r.out, HasSubstr(part));
}

TEST(Plan, JsonHasTheKeysThatProgramsRelyOn) {
    const Json json = json_of(plan_default({"--format", "json", "--top", "4"}));
    EXPECT_EQ(json.at("schema"), "plan/1");
    ASSERT_EQ(json.at("best").size(), 4u);
    double before = 0;
    for (const Json& best : json["best"]) {
        for (const char* key : {"plan", "devices", "step_time_s", "memory_bytes", "samples_per_s", "throughput", "mfu", "terms",
                                "overlapped", "bottleneck", "other_placements", "simulated_step_time_s"})
            EXPECT_TRUE(best.contains(key)) << key;
        double sum = 0;
        for (const Json& term : best["terms"]) sum += term.at("seconds").get<double>();
        EXPECT_NEAR(sum, best["step_time_s"].get<double>(), 1e-9);
        EXPECT_GE(best["step_time_s"].get<double>(), before);
        before = best["step_time_s"];
    }
    EXPECT_GT(json.at("front").size(), 1u);
    for (const char* key : {"priced", "too_large", "pruned"}) EXPECT_TRUE(json.at("counts").contains(key)) << key;
    EXPECT_TRUE(json.at("seconds").is_number());
    EXPECT_TRUE(json.at("complete").get<bool>());
    for (const Json& d : json.at("dimensions")) EXPECT_TRUE(d.contains("field") && d.contains("value") && d.contains("possible"));
    EXPECT_THAT(json.at("alternatives"), Not(IsEmpty()));
    EXPECT_THAT(json.at("would_fit"), IsEmpty());
}

TEST(Plan, WhatItSaysOfAPlanIsWhatPredictSays) {
    const Json best = json_of(plan_default({"--format", "json", "--top", "1", "--no-simulate"})).at("best").at(0);
    EXPECT_TRUE(best.at("simulated_step_time_s").is_null());
    std::vector<std::string> more{"--format", "json"};
    for (const auto& [key, value] : best.at("plan").items()) more.insert(more.end(), {"--set", "plan." + key + "=" + value.dump()});
    const Json predicted = json_of(run_with("predict", "scenarios/default.json", more));
    EXPECT_NEAR(predicted.at("step_time_s").get<double>(), best.at("step_time_s").get<double>(), 1e-12);
    EXPECT_EQ(predicted.at("memory_bytes"), best.at("memory_bytes"));
}

TEST(Plan, SavesAScenarioThatPredictAnswersAlike) {
    const std::filesystem::path file = scratch("best.json");
    const Json best =
        json_of(run_with("plan", "scenarios/does-not-fit.json", {"--format", "json", "--no-simulate", "--save-best", file.string()}))
            .at("best")
            .at(0);
    const Json predicted = json_of(run_with("predict", file.string(), {"--format", "json"}));
    EXPECT_EQ(predicted.at("step_time_s"), best.at("step_time_s"));
    EXPECT_EQ(predicted.at("memory_bytes"), best.at("memory_bytes"));
    std::filesystem::remove(file);
}

TEST(Plan, SavesAPublishedRunAsAScenario) {
    const std::filesystem::path file = scratch("published.json");
    const Json best = json_of(run_with("plan", "measurements/transformer/korthikanti2022.json#korthikanti-table5-22B-full",
                                       {"--format", "json", "--no-simulate", "--save-best", file.string()}))
                          .at("best")
                          .at(0);
    const double predicted = json_of(run_with("predict", file.string(), {"--format", "json"})).at("step_time_s");
    EXPECT_NEAR(predicted / best.at("step_time_s").get<double>(), 1, 1e-8);  // profiles have nine digits
    std::filesystem::remove(file);
}

// By the closed form, which knows no ranks that wait for each other's samples, the first of these tie.
TEST(Plan, TiesAreDecidedByTheSimulation) {
    const Json best = json_of(run_with("plan", "scenarios/input-one-file.json", {"--format", "json", "--top", "4"})).at("best");
    const double tied = best.at(0).at("step_time_s");
    double before = 0;
    for (const Json& b : best) {
        if (std::abs(b.at("step_time_s").get<double>() / tied - 1) > 1e-9) break;
        EXPECT_GE(b.at("simulated_step_time_s").get<double>(), before * (1 - 1e-5));
        before = b["simulated_step_time_s"];
    }
    EXPECT_NEAR(best[0]["simulated_step_time_s"].get<double>() / tied, 1, 0.01);
}

TEST(Plan, NamesEverythingThatIsWrongAtOnce) {
    const ProcessResult r =
        plan_default({"--where", "a > 1", "--pin", "nope", "--fail-if", "z > 1", "--gpus", "0", "--save-best", scratch("b.json").string()});
    EXPECT_EQ(r.exit_code, 2);
    for (const char* option : {"--where", "--pin", "--fail-if", "--gpus"}) EXPECT_THAT(r.err, HasSubstr(option));
}

TEST(Plan, NamesWhatElseIsWrongBesideAScenarioThatIsNotThere) {
    for (const char* command : {"plan", "scale"}) {
        const ProcessResult r =
            run_with(command, "absent.json", {"--gpus", "many", "--pin", "nope", "--where", "memory", "--fail-if", "z"});
        EXPECT_EQ(r.exit_code, 2);
        for (const char* named : {"absent.json", "--gpus", "--pin", "--where", "--fail-if"})
            EXPECT_THAT(r.err, HasSubstr(named)) << command;
    }
}

TEST(Scale, ExitsWith1WhereConditionsRuleOutEveryPlan) {
    const ProcessResult r = run_with("scale", "scenarios/default.json", {"--gpus", "1,2", "--where", "memory < 1 MB"});
    EXPECT_EQ(r.exit_code, 1) << r.err;
    EXPECT_THAT(r.out, HasSubstr("No plan meets every condition"));
    EXPECT_THAT(r.out, Not(HasSubstr("best plan"))) << "a table without a row";
}

TEST(Plan, PinsHoldInEveryPlan) {
    const Json json = json_of(plan_default({"--format", "json", "--pin", "micro_batch=2", "--pin", "dp"}));
    ASSERT_FALSE(json.at("best").empty());
    for (const Json& best : json.at("best")) {
        EXPECT_EQ(best.at("plan").at("micro_batch"), 2);
        EXPECT_EQ(best.at("plan").at("dp"), 2);
    }
    const Json scenario = json_of(plan_default({"--format", "json", "--set", R"(pinned=["tp"])"}));
    ASSERT_FALSE(scenario.at("best").empty());
    for (const Json& best : scenario.at("best")) EXPECT_EQ(best.at("plan").at("tp"), 1);
}

// As many devices as the scenario has, whatever is pinned; not those of its plan with the pin in it.
TEST(Plan, PinsLeaveTheNumberOfDevices) {
    const Json json = json_of(plan_default({"--format", "json", "--no-simulate", "--pin", "tp=2"}));
    ASSERT_FALSE(json.at("best").empty());
    for (const Json& best : json.at("best")) EXPECT_EQ(best.at("plan").at("dp"), 1);
    EXPECT_THAT(plan_default({"--pin", "tp=3"}).err, HasSubstr("nothing goes with tp=3 on 2 devices"));
    EXPECT_THAT(plan_default({"--pin", "dp=1", "--pin", "tp", "--pin", "pp", "--pin", "cp"}).err, HasSubstr("nothing goes with dp=1"));
}

TEST(Plan, ConditionsHoldOfEveryPlan) {
    const Json json = json_of(plan_default({"--format", "json", "--where", "memory < 250 MB"}));
    ASSERT_THAT(json.at("best"), Not(IsEmpty()));
    for (const Json& best : json.at("best")) EXPECT_LT(best.at("memory_bytes").get<double>(), 250e6);
}

TEST(Plan, NumbersOfDevicesAndBatchesAreSearchedTogether) {
    const Json json =
        json_of(run_with("plan", "scenarios/does-not-fit.json",
                         {"--format", "json", "--gpus", "8,16", "--batch", "16,32", "--no-simulate", "--set", "hardware.nodes=1"}));
    EXPECT_EQ(json.at("best").at(0).at("devices"), 16);
    std::set<int> batches;
    for (const Json& c : json.at("front")) batches.insert(c.at("plan").at("global_batch").get<int>());
    EXPECT_THAT(batches, testing::IsSubsetOf({16, 32}));
    EXPECT_EQ(json.at("request").at("devices"), Json({8, 16}));
}

TEST(Plan, ExitsWith1WhenAConditionOnTheBestPlanHolds) {
    EXPECT_EQ(plan_default({"--no-simulate", "--fail-if", "step_time > 1 us"}).exit_code, 1);
    EXPECT_EQ(plan_default({"--no-simulate", "--fail-if", "step_time > 1 h"}).exit_code, 0);
}

TEST(Plan, ExitsWith2ForWhatCannotBe) {
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"--pin", "tp=3"},
                                                                                      {"--pin", "tpp=2"},
                                                                                      {"--pin", "tp=two"},
                                                                                      {"--gpus", "0"},
                                                                                      {"--gpus", "x"},
                                                                                      {"--gpus", "1000000"},
                                                                                      {"--nodes", "4..2"},
                                                                                      {"--gpus", "2", "--nodes", "1"},
                                                                                      {"--where", "memory"},
                                                                                      {"--where", "beauty > 3"},
                                                                                      {"--objective", "joy"},
                                                                                      {"--top", "0"},
                                                                                      {"--batch", "0"}}) {
        const ProcessResult r = plan_default(more);
        EXPECT_EQ(r.exit_code, 2) << testing::PrintToString(more) << r.out;
        EXPECT_THAT(r.err, Not(IsEmpty())) << testing::PrintToString(more);
    }
}

const std::vector<std::string> nothing_fits{"--pin", "data_parallel", "--pin", "tp", "--pin", "pp", "--pin", "cp", "--pin", "offload"};

TEST(Plan, ExitsWith4WhenNothingFitsAndSaysWhatWould) {
    const ProcessResult r = run_with("plan", "scenarios/does-not-fit.json", nothing_fits);
    EXPECT_EQ(r.exit_code, 4);
    EXPECT_THAT(r.out, HasSubstr("NO PLAN FITS"));
    EXPECT_THAT(r.out, HasSubstr("instead of all_reduce"));
}

TEST(Plan, WhatWouldFitFits) {
    std::vector<std::string> more = nothing_fits;
    more.insert(more.end(), {"--format", "json"});
    const Json json = json_of(run_with("plan", "scenarios/does-not-fit.json", more));
    EXPECT_THAT(json.at("best"), IsEmpty());
    ASSERT_THAT(json.at("would_fit"), Not(IsEmpty()));
    for (const Json& remedy : json["would_fit"]) {
        std::vector<std::string> set{"--format", "json"};
        for (const Json& setting : remedy.at("set")) set.insert(set.end(), {"--set", setting.get<std::string>()});
        const ProcessResult then = run_with("predict", "scenarios/does-not-fit.json", set);
        EXPECT_EQ(then.exit_code, 0) << remedy;
        EXPECT_EQ(json_of(then).at("step_time_s"), remedy.at("step_time_s")) << remedy;
    }
}

// Plain data parallelism in 40 GB: nothing of its own fits on one node, and no more devices help whoever shares nothing out.
TEST(Plan, NamesAFrameworkUnderWhichAPlanFits) {
    const ProcessResult r =
        run_with("plan", "scenarios/does-not-fit.json", {"--set", "framework=pytorch-ddp", "--pin", "data_parallel", "--format", "json"});
    EXPECT_EQ(r.exit_code, 4);
    const Json would_fit = json_of(r).at("would_fit");
    ASSERT_THAT(would_fit, testing::SizeIs(1));
    EXPECT_EQ(would_fit[0].at("kind"), "framework");
    EXPECT_TRUE(would_fit[0].at("fits").get<bool>());
    const std::string framework = would_fit[0].at("framework");
    EXPECT_EQ(run_with("plan", "scenarios/does-not-fit.json",
                       {"--set", "framework=" + framework, "--pin", "data_parallel", "--no-simulate", "--top", "1"})
                  .exit_code,
              0);
}

TEST(Plan, HasNoneForNodesThatAFrameworkDoesNotReach) {
    const std::string snellius = "scenarios/resnet50-snellius-2-nodes.json";
    EXPECT_THAT(run_with("plan", snellius, {"--set", "framework=tf-mirrored"}),
                exits_with(2, HasSubstr("TensorFlow 2 MirroredStrategy has no way from node to node")));
    EXPECT_EQ(run_with("plan", snellius, {"--set", "framework=tf-mirrored", "--gpus", "4", "--no-simulate"}).exit_code, 0);
    EXPECT_THAT(run_with("predict", snellius, {"--set", "framework=tf-mirrored"}).out,
                HasSubstr("no way from node to node: predicted as if"));
}

TEST(Plan, ExitsWith1WhenConditionsRuleOutAllThatWouldFit) {
    const ProcessResult r = plan_default({"--where", "step_time < 1 us"});
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_THAT(r.out, HasSubstr("No plan meets every condition"));
    const Json fastest = json_of(plan_default({"--format", "json", "--no-simulate", "--objective", "time"})).at("best").at(0);
    const std::string nearest = to_text(Seconds::from_si(fastest.at("step_time_s").get<double>()));
    EXPECT_THAT(r.out, HasSubstr(": of those evaluated the smallest step_time is " + nearest + "; ask for less with --where"));
    // A condition on memory is one more limit to it: what takes more does fit the device.
    EXPECT_THAT(r.out, HasSubstr("only with step_time < 1 us"));
    EXPECT_THAT(plan_default({"--where", "memory < 1 KiB"}).out, HasSubstr("do not fit or take more memory than asked for"));
}

TEST(Plan, SaysThatTheScenariosOwnPlanIsOnMoreDevices) {
    const ProcessResult r = run_with("plan", "scenarios/llama-3-8b-fsdp-64xh100.json", {"--gpus", "8", "--no-simulate", "--top", "1"});
    EXPECT_THAT(r.out, HasSubstr("times its throughput: it is on 64 devices"));
}

TEST(Plan, DrawsAPicture) {
    const std::filesystem::path file = scratch("plan.svg");
    EXPECT_EQ(plan_default({"--no-simulate", "--picture", file.string()}).exit_code, 0);
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("<svg"));
    EXPECT_THAT(text.str(), HasSubstr("plan 1"));
    EXPECT_THAT(text.str(), HasSubstr("peak memory in GB of a device that has 12.9 GB")) << "the points are far below";
    std::filesystem::remove(file);
}

TEST(Plan, DrawsWhatIsTooLargeByFarBehindABreak) {
    const std::filesystem::path file = scratch("plan.svg");
    EXPECT_EQ(run_with("plan", "scenarios/does-not-fit.json", {"--no-simulate", "--picture", file.string()}).exit_code, 0);
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_THAT(text.str(), HasSubstr(">needs 112 GB</text>"));
    std::filesystem::remove(file);
}

TEST(Plan, PrintsWhatItHasWhenItIsInterrupted) {
    std::string batches = "256";  // so many that the search takes a minute, wherever it is interrupted
    for (int batch = 512; batch <= 16384; batch += 256) batches += "," + std::to_string(batch);
    const ProcessResult r = run_program(
        "timeout", {"--preserve-status", "--signal=INT", "3", SEXTANT_BINARY, "plan", "scenarios/llama-3.1-405b-16384xh100.json", "--gpus",
                    "256,512,1024,2048,4096,8192,16384", "--batch", batches, "--threads", "1"});
    EXPECT_EQ(r.exit_code, 130);
    EXPECT_THAT(r.out, testing::AnyOf(HasSubstr("STOPPED BEFORE THE END"), HasSubstr("Stopped before a plan was found")));
}

TEST(Plan, GivesTheSamePlansAgainWhateverTheThreads) {
    const auto plans = [](const std::string& threads) {
        const Json json = json_of(plan_default({"--format", "json", "--threads", threads}));
        return json.at("best").dump() + json.at("front").dump() + json.at("dimensions").dump();
    };
    EXPECT_EQ(plans("1"), plans("3"));
}

TEST(Scale, MeasuresEachSizeAgainstTheSmallest) {
    const Json json = json_of(run_with("scale", "scenarios/llama-3-8b-fsdp-64xh100.json",
                                       {"--gpus", "8..32", "--format", "json", "--pin", "tp", "--pin", "pp", "--pin", "cp"}));
    EXPECT_EQ(json.at("schema"), "scaling/1");
    EXPECT_EQ(json.at("kind"), "strong");
    ASSERT_EQ(json.at("points").size(), 3u);
    const Json &first = json["points"][0], &last = json["points"][2];
    EXPECT_EQ(last.at("devices"), 32);
    EXPECT_LT(last.at("step_time_interval_s").at(0), last.at("step_time_s"));
    EXPECT_GT(last.at("step_time_interval_s").at(1), last.at("step_time_s"));
    EXPECT_NEAR(last.at("efficiency").get<double>(),
                last.at("samples_per_s").get<double>() / 32 / (first.at("samples_per_s").get<double>() / 8), 1e-9);
}

TEST(Plan, SaysInWholeNumbersWhichBatchesThereAre) {
    EXPECT_THAT(plan_default({"--batch", "0"}).err, HasSubstr("not in range 1 to 1000000000\n"));
}

TEST(Plan, MarksWhatFitsWithNothingToSpare) {
    const ProcessResult r = run_with("plan", "scenarios/does-not-fit-mended.json", {"--no-simulate", "--top", "3"});
    EXPECT_THAT(r.out, HasSubstr("42.5 GB, nothing to spare"));
    EXPECT_THAT(r.out, Not(HasSubstr("36.3 GB, nothing")));
}

TEST(Plan, ExitsWith2AndNamesEveryBadPinAndConditionAtOnce) {
    const ProcessResult r = plan_default(
        {"--pin", "tpp=2", "--pin", "tp=two", "--where", "beauty > 3", "--fail-if", "steptime > 5 ms", "--fail-if", "step_time > 5"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.out, IsEmpty());
    for (const char* bad : {"--pin tpp", "--pin tp=two", "beauty", "\"steptime\" is not reported", "'step_time > 5'"})
        EXPECT_THAT(r.err, HasSubstr(bad));
}

TEST(Scale, ExitsWith1WhenAConditionOnTheLargestSizeHolds) {
    const std::vector<std::string> sizes{"--gpus", "8,16", "--pin", "tp", "--pin", "pp", "--pin", "cp"};
    const auto exit_code = [&](const std::string& condition) {
        std::vector<std::string> all = sizes;
        all.insert(all.end(), {"--fail-if", condition});
        return run_with("scale", "scenarios/llama-3-8b-fsdp-64xh100.json", all).exit_code;
    };
    EXPECT_EQ(exit_code("devices >= 16"), 1);
    EXPECT_EQ(exit_code("efficiency > 10"), 0);
    EXPECT_EQ(exit_code("nonsense > 10"), 2);
}

TEST(Scale, WritesTextAndAPicture) {
    const std::filesystem::path file = scratch("scale.svg");
    const ProcessResult r = run_with("scale", "scenarios/does-not-fit.json", {"--gpus", "8,16", "--weak", "--picture", file.string()});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("weak"));
    EXPECT_THAT(r.out, HasSubstr("devices"));
    EXPECT_TRUE(std::filesystem::exists(file));
    std::filesystem::remove(file);
}

TEST(Scale, ExitsWith2ForSizesThatAreNoneAnd4WhereNothingFits) {
    EXPECT_EQ(run_with("scale", "scenarios/default.json", {"--gpus", "16..2"}).exit_code, 2);
    const ProcessResult wrong = run_with("scale", "no-such.json", {"--gpus", "8.."});
    EXPECT_THAT(wrong.err, HasSubstr("--gpus 8..: \"\" is no number"));
    EXPECT_THAT(wrong.err, HasSubstr("no-such.json: no such file"));
    EXPECT_EQ(run_with("scale", "scenarios/default.json", {"--gpus", "64"}).exit_code, 2);
    std::vector<std::string> more = nothing_fits;
    more.insert(more.end(), {"--gpus", "8"});
    EXPECT_EQ(run_with("scale", "scenarios/does-not-fit.json", more).exit_code, 4);
}

}  // namespace
}  // namespace sextant
