// `sextant predict` as scripts use it: exit codes, conditions, overrides, the keys of its JSON.
#include "model/io/format/text_table.hpp"
#include "model/predict/estimate.hpp"
#include "tests/cli/process_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace sextant {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;

constexpr auto scenario = "scenarios/default.json";

ProcessResult predict_default(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"predict", scenario});
    return run_sextant(more);
}

TEST(Predict, SaysHowOneOfManyMeasurementsIsNamed) {
    EXPECT_THAT(run_sextant({"predict", "measurements/transformer/korthikanti2022.json"}),
                exits_with(2, HasSubstr("/rows: these are published measurements, and no scenario\n  hint: name one of them, 'FILE#ROW'")));
}

TEST(Predict, ExitsWith0AndWritesAReport) {
    const ProcessResult r = predict_default();
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("Small transformer on two CPU cores"));
    EXPECT_THAT(r.err, IsEmpty());
}

TEST(Predict, SaysWhereMemoryIsNearlyFull) {
    const std::string near = "fits; predictions of memory are 3 % off";
    EXPECT_THAT(run_sextant({"predict", "scenarios/deepseek-v3-2048xh100.json"}).out, HasSubstr(near));
    EXPECT_THAT(run_sextant({"predict", "scenarios/default.json"}).out, testing::Not(HasSubstr(near)));
}

// 827,139 device-hours (README) at 2 USD are 1.65 million.
TEST(Predict, GroupsTheDigitsOfWhatARunCosts) {
    const ProcessResult r = run_sextant({"predict", "scenarios/gpt3-175b-1024xa100.json", "--set", "run.price=2 USD/h"});
    EXPECT_THAT(r.out, testing::ContainsRegex(
                           "cost +1,65[0-9],[0-9]+ USD  .80 %: 1,[0-9]+,[0-9]+ USD to 1,[0-9]+,[0-9]+ USD., a device at 2.00 USD/h"));
}

TEST(Predict, SaysThatItCannotWriteAPageBeforeItLooksAtTheScenario) {
    EXPECT_EQ(run_sextant({"predict", "no-such.json", "--html", "/no/such/folder/p.html"}).exit_code, 3);
    EXPECT_THAT(predict_default({"--html", testing::TempDir()}).err, HasSubstr("it is a directory"));
}

TEST(Predict, HasHelp) {
    const ProcessResult r = run_sextant({"predict", "--help"});
    EXPECT_EQ(r.exit_code, 0);
    for (const char* option : {"--set", "--fail-if", "--format", "--explain", "--profiles"}) EXPECT_THAT(r.out, HasSubstr(option));
}

TEST(Predict, ExitsWith1WhenAConditionHoldsAndSaysWhich) {
    const ProcessResult r = predict_default({"--fail-if", "step_time > 1 us", "--fail-if", "devices > 1000", "--fail-if", "mfu < 99 %"});
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_THAT(r.err, HasSubstr("step_time > 1 us"));
    EXPECT_THAT(r.err, HasSubstr("mfu < 99 %"));
    EXPECT_THAT(r.err, Not(HasSubstr("devices")));
    EXPECT_THAT(r.out, Not(IsEmpty()));
}

TEST(Predict, ExitsWith4WhereAHostHasNoRoomForWhatIsOffloaded) {
    // 8.03e9 parameters, of each 16 bytes for the update, 2 of sums of gradients and 2 of weights: 161 GB.
    const std::vector<std::string> offloading{
        "predict", "scenarios/llama-3-8b-fsdp-64xh100.json", "--set", "framework=deepspeed", "--set", "plan.dp=8",
        "--set",   "plan.offload=optimizer_and_parameters"};
    std::vector<std::string> small = offloading;
    small.insert(small.end(), {"--set", "hardware.host_memory=128 GiB", "--fail-if", "host_memory > 162 GB"});
    EXPECT_THAT(run_sextant(offloading).out, HasSubstr("161 GB of 2.20 TB, fits, each node"));
    const ProcessResult r = run_sextant(small);
    EXPECT_EQ(r.exit_code, 4);
    EXPECT_THAT(r.out, HasSubstr("161 GB of 137 GB, DOES NOT FIT, each node"));
    EXPECT_THAT(r.out, HasSubstr("what is offloaded takes 161 GB of host memory on a node that has 137 GB"));
}

TEST(Predict, ExitsWith2WhereParametersAreOffloadedAndNotSharded) {
    const ProcessResult r = predict_default({"--set", "plan.offload=optimizer_and_parameters"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, HasSubstr("/plan/offload: parameters in host memory come to the device block by block"));
    EXPECT_THAT(r.err, HasSubstr("data_parallel: zero3 or fsdp, also of a single rank"));
}

TEST(Predict, ExitsWith0WhenNoConditionHolds) {
    EXPECT_EQ(predict_default({"--fail-if", "step_time > 1 h", "--fail-if", "memory >= 1 TB"}).exit_code, 0);
}

TEST(Predict, ExitsWith2ForAConditionThatSaysNothing) {
    for (const char* condition : {"step_time", "step_time > ", "step_time > 3 apples", "stepp_time > 1 s", "", "> 1 s"}) {
        const ProcessResult r = predict_default({"--fail-if", condition});
        EXPECT_EQ(r.exit_code, 2) << condition;
        EXPECT_THAT(r.err, Not(IsEmpty())) << condition;
    }
}

TEST(Predict, PrintsNothingWhereConditionsAreWrongAndNamesThemAll) {
    const std::vector<std::string> wrong{"--fail-if", "steptime > 5 ms", "--fail-if", "step_time > 5", "--fail-if", "memory"};
    for (const char* command : {"predict", "simulate"}) {
        std::vector<std::string> all{command, "scenarios/default.json"};
        all.insert(all.end(), wrong.begin(), wrong.end());
        const ProcessResult r = run_sextant(all);
        EXPECT_EQ(r.exit_code, 2);
        EXPECT_THAT(r.out, IsEmpty());
        for (const char* bad : {"\"steptime\" is not reported", "'step_time > 5'", "not a comparison"}) EXPECT_THAT(r.err, HasSubstr(bad));
    }
}

TEST(Predict, ExitsWith2AndNamesEveryProblemAtOnce) {
    const ProcessResult r = predict_default({"--set", "plan.dp=0", "--set", "hardware.cluster=lisaa", "--set", "plan.zz=1"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.out, IsEmpty());
    for (const char* pointer : {"/plan/dp", "/hardware/cluster", "/plan/zz"}) EXPECT_THAT(r.err, HasSubstr(pointer));
}

TEST(Predict, ListsTheClustersFileSystemsWhereThereIsNoneOfAName) {
    const ProcessResult r = run_sextant({"predict", "scenarios/input-small-files-home.json", "--set", "data.storage=work"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, HasSubstr("/data/storage"));
    EXPECT_THAT(r.err, HasSubstr(R"(mila-cn-g has "shared", "local", "datasets", "home", "projects", "scratch", "tmp")"));
}

TEST(Predict, ExitsWith2ForBytesThatAreNoText) {
    for (const char* set : {"plan.dp=\xff", "workload.bias=\xff", "workload.\xff=1", "hardware.device=\xff", "data.storage.\xff=\xff"}) {
        const ProcessResult r = predict_default({"--set", set});
        EXPECT_EQ(r.exit_code, 2) << set;
        EXPECT_THAT(r.err, StartsWith("--set: an assignment is no text in UTF-8"));
    }
}

TEST(Predict, OffersAnAssignmentThatItTakes) {
    EXPECT_THAT(predict_default({"--set", "plan.tp"}),
                exits_with(2, HasSubstr("as in --set plan.tp=8 or --set 'hardware.device.memory=40 GiB'")));
    EXPECT_EQ(predict_default({"--set", "hardware.device.memory=40 GiB"}).exit_code, 0);
}

TEST(Predict, SaysHowManyStepsARunHas) {
    // 300e9 tokens in batches of 1536 sequences of 2048: 95367.4 of them.
    EXPECT_THAT(run_sextant({"predict", "scenarios/gpt3-175b-1024xa100.json"}).out, HasSubstr("\n  steps                 95,368\n"));
}

// What an import says of a network is what a report counts: of Mistral the pairs in its causal windows, 532 TFLOP where all are 1.03 PFLOP
// in sequences as long as it takes.
TEST(Predict, CountsTheFlopsThatAnImportStates) {
    const std::string file = testing::TempDir() + "sextant_predict_mistral_" + std::to_string(::getpid()) + ".json";
    const ProcessResult imported = run_sextant({"import", "hf", "tests/io/hf_configs/mistral.json", "--seq-len", "32768", "--out", file});
    EXPECT_EQ(imported.out,
              "mistral: 7.242 billion parameters, 532 TFLOP forward per sequence\n"
              "sequences of 32768 tokens, as --seq-len says\n");
    const Json report = json_of(predict_default({"--format", "json", "--set", "workload=" + file, "--set", "plan.flash_attention=true"}));
    EXPECT_NEAR(report.at("model_flops").get<double>() / (3 * report.at("effective_batch").get<double>()), 532e12, 0.5e12);
    std::filesystem::remove(file);
    EXPECT_THAT(run_sextant({"import", "hf", "tests/io/hf_configs/deepseek_v3.json", "--seq-len", "163840"}).err,
                HasSubstr("682.6 billion parameters, 38.24 billion of them active, 80.7 PFLOP forward"));
}

// A copy of the profiles has none beside it: the bundled ones count.
TEST(Predict, FindsFrameworksWhereverProfilesAre) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(testing::TempDir()) / ("sextant_profiles_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    fs::copy(SEXTANT_SOURCE_DIR "/hardware_profiles", folder / "profiles", fs::copy_options::recursive);
    const ProcessResult r = predict_default({"--profiles", (folder / "profiles").string()});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    fs::remove_all(folder);
}

TEST(Predict, ExitsWith2ForWhatIsNotThere) {
    EXPECT_EQ(run_sextant({"predict"}).exit_code, 2);
    EXPECT_EQ(run_sextant({"predict", "scenarios/nobody.json"}).exit_code, 2);
    EXPECT_EQ(run_sextant({"predict", "scenarios"}).exit_code, 2);
    EXPECT_EQ(predict_default({"--format", "xml"}).exit_code, 2);
    EXPECT_EQ(predict_default({"--profiles", "/nowhere"}).exit_code, 2);
    EXPECT_EQ(predict_default({"--set", "plan.dp"}).exit_code, 2);
}

TEST(Predict, SaysAllThatIsWrongAtOnce) {
    const ProcessResult r = predict_default({"--set", "plan.tp=x", "--fail-if", "step_time", "--explain", "nonsense"});
    EXPECT_EQ(r.exit_code, 2);
    for (const char* part : {"/plan/tp", "--fail-if 'step_time'", "--explain nonsense"}) EXPECT_THAT(r.err, HasSubstr(part));
    const ProcessResult known = predict_default({"--fail-if", "bogus > 3", "--explain", "nonsense"});
    for (const char* part : {"bogus", "--explain nonsense"}) EXPECT_THAT(known.err, HasSubstr(part));
    const ProcessResult both = run_sextant({"compare", scenario, "no-such-run.json", "--set", "plan.tp=x", "--fail-if", "step_time"});
    EXPECT_EQ(both.exit_code, 2);
    for (const char* part : {"no-such-run.json", "/plan/tp", "--fail-if 'step_time'"}) EXPECT_THAT(both.err, HasSubstr(part));
}

// Eight devices as 4 and 4, or as 4, 3 and 1: a node with one device has one network adapter of its two in use, and so have the others.
TEST(Predict, TakesNodesAsASchedulerGaveThem) {
    const auto exchange = [](std::vector<std::string> more) {
        more.insert(more.begin(),
                    {"predict", "scenarios/resnet50-snellius-2-nodes.json", "--format", "json", "--set", "plan.micro_batch=8"});
        const Json json = json_of(run_sextant(more));
        for (const Json& term : json.at("terms"))
            if (term.at("name") == "data_communication") return term.at("seconds").get<double>();
        return 0.0;
    };
    const double even = exchange({});
    EXPECT_GT(exchange({"--set", "hardware.nodes=null", "--set", "hardware.devices_per_node=4,3,1"}), 1.5 * even);
    EXPECT_DOUBLE_EQ(exchange({"--set", "hardware.nodes=null", "--set", "hardware.devices_per_node=4(x2)"}), even);
}

TEST(Predict, ExitsWith4WhenThePlanDoesNotFitAndAnswersAllTheSame) {
    const ProcessResult r = run_sextant({"predict", "scenarios/does-not-fit.json", "--format", "json"});
    EXPECT_EQ(r.exit_code, 4);
    const Json json = json_of(r);
    EXPECT_FALSE(json["fits"].get<bool>());
    EXPECT_GT(json["memory_bytes"], json["device_memory_bytes"]);
    EXPECT_EQ(json["bottleneck"]["kind"], "memory size");
    EXPECT_EQ(run_sextant({"predict", "scenarios/does-not-fit-mended.json"}).exit_code, 0);
}

// Nobody waits for a step that does not run.
TEST(Predict, SaysFirstWhatMakesAPlanFit) {
    const std::string text = run_sextant({"predict", "scenarios/does-not-fit.json"}).out;
    EXPECT_THAT(text, HasSubstr(", if it fitted: it DOES NOT FIT in memory\n"));
    EXPECT_THAT(text, HasSubstr("\n  what would make it fit: plan.data_parallel=zero3 (fits in "));
    EXPECT_THAT(text, Not(HasSubstr("twice the compute rate")));
    EXPECT_LT(text.find("\nMemory of the fullest rank"), text.find("\nWhere the time goes"));
}

TEST(Predict, SaysWhatElseAJobFitsUnder) {
    const std::vector<std::string> words{"predict", "scenarios/does-not-fit.json", "--set", "framework=pytorch-ddp"};
    EXPECT_THAT(run_sextant(words).out, HasSubstr(" of memory in each device"));
    std::vector<std::string> more = words;
    more.insert(more.end(), {"--format", "json"});
    const Json elsewhere = json_of(run_sextant(more)).at("bottleneck").at("elsewhere");
    ASSERT_THAT(elsewhere, Not(IsEmpty()));
    std::vector<std::string> first{"predict", "scenarios/does-not-fit.json"};
    for (const Json& set : elsewhere[0].at("set")) first.insert(first.end(), {"--set", set.get<std::string>()});
    EXPECT_EQ(run_sextant(first).exit_code, 0);
}

TEST(Predict, AConditionThatHoldsWeighsMoreThanMemory) {
    EXPECT_EQ(run_sextant({"predict", "scenarios/does-not-fit.json", "--fail-if", "devices > 1"}).exit_code, 1);
}

TEST(Predict, JsonHasTheKeysThatProgramsRelyOn) {
    const Json json = json_of(predict_default({"--format", "json"}));
    EXPECT_EQ(json.at("schema"), "prediction/1");
    EXPECT_EQ(json.at("scenario"), "Small transformer on two CPU cores");
    const double step = json.at("step_time_s");
    ASSERT_EQ(json.at("step_time_interval_s").size(), 2u);
    EXPECT_LE(json["step_time_interval_s"][0].get<double>(), step);
    EXPECT_GE(json["step_time_interval_s"][1].get<double>(), step);
    EXPECT_NEAR(json.at("throughput").at("samples_per_s").get<double>() * step, 8, 1e-9);       // the global batch
    EXPECT_NEAR(json.at("throughput").at("tokens_per_s").get<double>() * step, 8 * 256, 1e-6);  // of 256 tokens each
    double sum = 0;
    for (const Json& term : json.at("terms")) {
        EXPECT_TRUE(term.at("name").is_string());
        sum += term.at("seconds").get<double>();
    }
    EXPECT_NEAR(sum, step, 1e-9 * step);
    EXPECT_TRUE(json.at("overlapped").is_array());
    EXPECT_GT(json.at("memory_bytes"), 0);
    EXPECT_TRUE(json.at("fits").get<bool>());
    EXPECT_GT(json.at("mfu"), 0);
    for (const char* key : {"kind", "why", "what_would_move_it"}) EXPECT_TRUE(json.at("bottleneck").at(key).is_string()) << key;
    EXPECT_TRUE(json.at("inputs_estimated").is_array());
}

// The page's timeline is that of `simulate`: also of ranks that share cores, whose rates are parts of a core's.
TEST(Predict, DrawsTheTimelineThatSimulateDoes) {
    const auto played = [](const char* command) {
        const std::string page = testing::TempDir() + "sextant-page-" + std::to_string(::getpid()) + ".html";
        const ProcessResult r = run_sextant({command, scenario, "--set", "plan.dp=4", "--set", "plan.global_batch=16", "--set",
                                             "hardware.ranks_per_device=2", "--html", page});
        EXPECT_EQ(r.exit_code, 0) << r.err;
        std::ostringstream text;
        text << std::ifstream(page).rdbuf();
        std::filesystem::remove(page);
        const std::string all = text.str();
        const auto begin = all.find("The step as it is played event by event: ");
        EXPECT_NE(begin, std::string::npos);
        return all.substr(begin, all.find('<', begin) - begin);
    };
    EXPECT_EQ(played("predict"), played("simulate"));
}

TEST(Predict, CountsStepsBetweenCheckpointsInWholeNumbers) {
    const auto every = [](const std::string& steps) {
        const std::string set = R"(data.checkpoints={"storage": "shared", "every_steps": )" + steps + "}";
        return run_sextant({"predict", "scenarios/input-few-workers.json", "--set", set}).out;
    };
    EXPECT_THAT(every("63"), HasSubstr("  63 steps\n"));
    EXPECT_THAT(every("1"), HasSubstr("  1 step\n"));
}

TEST(Predict, SaysWhatFailuresCostAndHowOftenToSave) {
    const std::string file = "scenarios/llama-3.1-405b-failures.json";
    const ProcessResult r = run_sextant({"predict", file, "--fail-if", "goodput < 90 %", "--fail-if", "run.failures.expected > 100"});
    EXPECT_EQ(r.exit_code, 1);
    EXPECT_THAT(r.err, AllOf(HasSubstr("goodput < 90 %"), HasSubstr("run.failures.expected > 100")));
    EXPECT_THAT(r.out,
                AllOf(HasSubstr("expected, one every 3.09 h"), HasSubstr("best checkpoints"), HasSubstr("advice     checkpoints every")));
    const Json run = json_of(run_sextant({"predict", file, "--format", "json"})).at("run");
    EXPECT_GT(run.at("failures").at("expected"), 419);  // in more than 54 days
    EXPECT_GT(run.at("failures").at("best_checkpoints").at("goodput"), run.at("goodput"));
    EXPECT_LT(run.at("time_interval_s").at(0), run.at("time_s"));
    EXPECT_THAT(run_sextant({"predict", file, "--explain", "run"}).out, HasSubstr("16,384 devices / 2112 d"));
    EXPECT_THAT(run_sextant({"predict", file, "--set", "run.failures=null"}).out, Not(HasSubstr("failures")));
}

TEST(Predict, ShowsNothingThatIsButRounding) {
    const std::vector<std::string> packed{"predict", "scenarios/input-thousand-files.json", "--set", "data.format=zip"};
    EXPECT_THAT(run_sextant(packed).out, Not(HasSubstr("goodput")));
    for (const char* name : {"input-thousand-files", "parameter-server-async"})
        EXPECT_THAT(run_sextant({"simulate", "scenarios/" + std::string(name) + ".json"}).out, Not(HasSubstr("0.0000"))) << name;
}

TEST(Predict, TokensAreNullWhereThereAreNone) {
    const Json json = json_of(run_sextant({"predict", "scenarios/resnet50-snellius-4xa100.json", "--format", "json"}));
    EXPECT_TRUE(json.at("throughput").at("tokens_per_s").is_null());
}

TEST(Predict, SetAsksForAVariantOfAPublishedRun) {
    const std::string row = "measurements/transformer/bloom_jeanzay_a100.json#bloom-jz-l478";
    EXPECT_THAT(run_sextant({"predict", row}).out, HasSubstr("384 devices, data 8, tensor 8, pipeline 6"));
    EXPECT_THAT(run_sextant({"predict", row, "--set", "plan.tp=4"}).out, HasSubstr("384 devices, data 16, tensor 4, pipeline 6"));
    EXPECT_THAT(run_sextant({"predict", row, "--set", "plan.tq=4"}), exits_with(2, HasSubstr(row + ":/plan/tq: unknown key")));
}

TEST(Predict, SetOverridesAnyField) {
    const Json before = json_of(predict_default({"--format", "json"}));
    const Json batch = json_of(predict_default({"--format", "json", "--set", "plan.micro_batch=8", "--set", "plan.global_batch=16"}));
    EXPECT_GT(batch["step_time_s"], before["step_time_s"]);
    EXPECT_EQ(batch["effective_batch"], 16);
    const Json layers = json_of(predict_default({"--format", "json", "--set", "workload.transformer.layers=8"}));
    EXPECT_GT(layers["model_flops"], before["model_flops"]);
    EXPECT_EQ(json_of(predict_default({"--format", "json", "--set", "name=another"}))["scenario"], "another");
}

TEST(Predict, MultipliesIntegersInInferenceAsFastAsTheDeviceDoes) {
    const auto step = [](const std::string& precision) {
        const Json answer = json_of(run_sextant(
            {"predict", "scenarios/inference-llama-2-13b-8xa100.json", "--format", "json", "--set", "plan.precision=" + precision}));
        return answer["step_time_s"].get<double>();
    };
    const double int8 = step("int8"), int4 = step("int4"), binary = step("binary");  // 624, 1248 and 4992 TOPS of an A100
    EXPECT_LT(int4, int8);
    EXPECT_LT(binary, int4);
    EXPECT_EQ(step("int1"), binary);
}

TEST(Predict, ExplainsEveryTerm) {
    for (const Term t : all_terms) {
        const std::string term(to_text(t));
        const ProcessResult r = predict_default({"--explain", term});
        EXPECT_EQ(r.exit_code, 0) << term;
        EXPECT_THAT(r.out, HasSubstr(term + " = "));
        EXPECT_EQ(predict_default({"--explain", words(term)}).out, r.out) << "as the report prints it";
    }
}

TEST(Predict, ExplainsTheMemoryOfTheFullestRankKindByKind) {
    const ProcessResult r = run_sextant({"predict", "scenarios/llama-3-8b-fsdp-64xh100.json", "--explain", "memory"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    // 8.03e9 parameters over 64 ranks: 4 bytes of weights, which are the masters, and 8 of states.
    EXPECT_THAT(r.out, HasSubstr("weights 502 MB: 125.5 million parameters of 4.00 bytes"));
    EXPECT_THAT(r.out, HasSubstr("optimizer 1.00 GB: 125.5 million parameters of 8.00 bytes"));
    EXPECT_THAT(r.out, HasSubstr("mlp.fc1 [8192 x 28672]"));
    EXPECT_THAT(r.out, HasSubstr("fragmentation"));
    EXPECT_THAT(predict_default({"--explain", "memory", "--format", "json"}), exits_with(2, HasSubstr("an explanation is text")));
}

TEST(Predict, SaysWhyThereIsMoreThanThePeak) {
    const std::string job = "scenarios/bandwidth-bound-all-reduce.json", fewer = "may pass 100 %";
    EXPECT_THAT(run_sextant({"predict", job, "--set", "plan.forward_only=true"}).out, HasSubstr(fewer));
    EXPECT_THAT(run_sextant({"predict", job}).out, Not(HasSubstr(fewer)));
}

TEST(Predict, AnExplanationHasTheExitCodesAndThePageOfAReport) {
    EXPECT_THAT(predict_default({"--explain", "forward", "--fail-if", "step_time > 1 us"}), exits_with(1, HasSubstr("condition held")));
    EXPECT_EQ(predict_default({"--explain", "forward", "--fail-if", "nonsense > 1 us"}).exit_code, 2);
    EXPECT_EQ(run_sextant({"predict", "scenarios/does-not-fit.json", "--explain", "memory"}).exit_code, 4);
    const auto page = std::filesystem::temp_directory_path() / ("sextant_explained_" + std::to_string(getpid()) + ".html");
    EXPECT_EQ(predict_default({"--explain", "forward", "--html", page.string()}).exit_code, 0);
    EXPECT_TRUE(std::filesystem::remove(page));
}

TEST(Predict, ExitsWith2ForATermThatDoesNotExistAndListsThoseThatDo) {
    const ProcessResult r = predict_default({"--explain", "magic"});
    EXPECT_EQ(r.exit_code, 2);
    const ProcessResult help = run_sextant({"predict", "--help"});
    for (const std::string& text : {r.err, help.out}) {
        for (const Term t : all_terms) EXPECT_THAT(text, HasSubstr(std::string(to_text(t))));
        EXPECT_THAT(text, AllOf(HasSubstr("memory, or run"), HasSubstr("a term of the step time")));
    }
}

TEST(Predict, GivesTheSameBytesAgain) {
    for (const char* format : {"text", "json"})
        EXPECT_EQ(predict_default({"--format", format}).out, predict_default({"--format", format}).out);
}

}  // namespace
}  // namespace sextant
