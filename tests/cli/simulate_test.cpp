// `sextant simulate` as scripts use it: what predict offers, and the timeline in files.
#include "model/graph/trace.hpp"
#include "tests/cli/process_json.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

constexpr auto pipeline = "scenarios/model-parallel-pipeline.json";

ProcessResult simulate_pipeline(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"simulate", pipeline});
    return run_sextant(more);
}

class Simulate : public TemporaryFolder {
protected:
    static std::string contents(const std::string& path) {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        return text.str();
    }
};

TEST_F(Simulate, ExitsWith0AndSaysWhatPredictSaysBeside) {
    const ProcessResult r = simulate_pipeline();
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("GPT-2 XL cut over 4 A100, pipelined"));
    EXPECT_THAT(r.out, HasSubstr("predict says"));
    EXPECT_THAT(r.out, HasSubstr("Critical path"));
    EXPECT_THAT(r.err, IsEmpty());
}

// What is gained is taken off the step that was played, which is not the one of the closed form.
TEST_F(Simulate, WhatWouldMoveItMovesWhatWasSimulated) {
    const Json json = json_of(run_sextant({"simulate", "scenarios/parameter-server-async.json", "--format", "json"}));
    const double step = json.at("step_time_s");
    EXPECT_GT(std::abs(json.at("predicted_step_time_s").get<double>() / step - 1), 0.05);
    ASSERT_FALSE(json.at("bottleneck").at("movers").empty());
    for (const Json& m : json["bottleneck"]["movers"])
        EXPECT_NEAR(m.at("step_time_at_double_s").get<double>(), step * (1 - m.at("gain").get<double>()), 1e-9 * step);
}

TEST_F(Simulate, RefusesSeedsThatAreNoNumberItCanHold) {
    for (const char* seed : {"18446744073709551616", "-1", "1.5", ""}) {
        const ProcessResult r = simulate_pipeline({"--seed", seed});
        EXPECT_EQ(r.exit_code, 2) << seed;
        EXPECT_LT(r.err.size(), 300u) << seed;
    }
}

TEST_F(Simulate, WritesTheKeysOfPredictAndTermsThatSumToTheStep) {
    const Json predicted = json_of(run_sextant({"predict", pipeline, "--format", "json"}));
    const Json simulated = json_of(simulate_pipeline({"--format", "json"}));
    for (const auto& [key, value] : predicted.items()) EXPECT_TRUE(simulated.contains(key)) << key;
    double sum = 0;
    for (const Json& term : simulated["terms"]) sum += term["seconds"].get<double>();
    EXPECT_NEAR(sum, simulated["step_time_s"].get<double>(), 1e-9);
    EXPECT_EQ(simulated["predicted_step_time_s"], predicted["step_time_s"]);
}

TEST_F(Simulate, GivesEqualBytesForEqualInput) {
    const std::vector<std::string> noisy = {"--set", "hardware.step_noise=0.05", "--seed", "7", "--format", "json"};
    const ProcessResult first = simulate_pipeline(noisy);
    EXPECT_EQ(first.out, simulate_pipeline(noisy).out);
    std::vector<std::string> other_seed = noisy;
    other_seed[3] = "8";
    EXPECT_NE(first.out, simulate_pipeline(other_seed).out);
    EXPECT_EQ(json_of(first)["seed"], 7);
}

TEST_F(Simulate, WritesATimelineThatPerfettoOpens) {
    ASSERT_EQ(simulate_pipeline({"--trace", file("t.json")}).exit_code, 0);
    const Json trace = Json::parse(contents(file("t.json")));
    std::size_t slices = 0;
    for (const Json& event : trace["traceEvents"]) slices += event["ph"] == "X" ? 1 : 0;
    EXPECT_GT(slices, 8U * 4U * 2U);  // 8 micro-batches forward and backward through 4 stages
}

TEST_F(Simulate, WritesColumnsAndAPicture) {
    ASSERT_EQ(simulate_pipeline({"--trace", file("t.h5"), "--picture", file("t.svg")}).exit_code, 0);
    EXPECT_THAT(contents(file("t.h5")).substr(0, 8), "\x89HDF\r\n\x1a\n");
    EXPECT_THAT(contents(file("t.svg")), HasSubstr("<svg"));
}

TEST_F(Simulate, DrawsIntoThePipeBehindItsOutput) {
    const ProcessResult r = run_program(
        "bash", {"-c", std::string("set -o pipefail; " SEXTANT_BINARY " simulate ") + pipeline + " --picture /dev/stdout | cat"});
    EXPECT_EQ(r.exit_code, 0) << r.err.substr(0, 1000);
    EXPECT_NE(r.out.find("</svg>"), std::string::npos);
    EXPECT_NE(r.out.find("Critical path"), std::string::npos);
}

TEST_F(Simulate, RefusesAPictureThatWouldNotBeWhatItsNameSays) {
    EXPECT_THAT(simulate_pipeline({"--picture", file("t.png")}), exits_with(2, HasSubstr("a name that ends in .svg")));
    EXPECT_FALSE(std::filesystem::exists(file("t.png")));
}

TEST_F(Simulate, RefusesATraceWhoseFormatItCannotTell) {
    EXPECT_THAT(simulate_pipeline({"--trace", file("t.txt")}), exits_with(2, HasSubstr("FILE.h5")));
    EXPECT_FALSE(std::filesystem::exists(file("t.txt")));
}

TEST_F(Simulate, SaysWhichFilesItCannotWriteBeforeItLooksAtTheScenario) {
    for (const char* option : {"--trace", "--picture", "--html", "--chakra"}) {
        const std::string nowhere = "/no/such/folder/t" + std::string(option == std::string("--trace") ? ".json" : "");
        EXPECT_EQ(run_sextant({"simulate", "no-such.json", option, nowhere}).exit_code, 3) << option;
    }
    EXPECT_THAT(run_sextant({"simulate", "no-such.json", "--trace", file("t.txt")}).err, HasSubstr("FILE.h5"));
}

TEST_F(Simulate, ExitsWith3WhereTheDiskRefuses) {
    EXPECT_THAT(simulate_pipeline({"--trace", file("no/such/directory/t.json")}), exits_with(3, Not(IsEmpty())));
}

TEST_F(Simulate, WritesExecutionTracesThatReplayTakesAsLongFor) {
    const ProcessResult r = simulate_pipeline({"--chakra", file("job"), "--format", "json"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.err, HasSubstr("4 ranks"));
    for (int rank = 0; rank < 4; ++rank) EXPECT_TRUE(std::filesystem::exists(file("job." + std::to_string(rank) + ".et")));
    const ProcessResult again =
        run_sextant({"replay", file("job"), "--groups", file("job.groups.json"), "--hardware", "snellius-gcn", "--format", "json"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    const double simulated = json_of(r)["step_time_s"], replayed = json_of(again)["step_time_s"];
    EXPECT_NEAR(replayed / simulated, 1, 0.01);
    const std::vector<std::string> placed{"replay", file("job"), "--nodes", file("job.nodes.json"), "--hardware", "snellius-gcn"};
    EXPECT_EQ(run_sextant(placed).exit_code, 0);
    std::ofstream(file("job.nodes.json")) << "[0, 1]";
    EXPECT_THAT(run_sextant(placed), exits_with(2, HasSubstr("job.nodes.json: is no list of the nodes of 4 ranks")));
}

TEST_F(Simulate, SaysWhatItWroteBehindItsReport) {
    const ProcessResult r = simulate_pipeline({"--chakra", file("job")});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("Execution traces of 4 ranks"));
    EXPECT_THAT(r.err, IsEmpty());
    // And what it could not.
    EXPECT_THAT(run_sextant({"simulate", "scenarios/input-few-workers.json", "--chakra", file("fed")}).out,
                AllOf(HasSubstr("reading, decoding and copying them is left out"), HasSubstr("not slower beside communication")));
}

TEST_F(Simulate, RefusesToWriteTracesOfParameterServersOrBesideThoseOfMoreRanks) {
    const ProcessResult servers = run_sextant({"simulate", "scenarios/parameter-server-sync.json", "--chakra", file("job")});
    EXPECT_EQ(servers.exit_code, 2);
    EXPECT_THAT(servers.err, HasSubstr("no parameter servers"));
    EXPECT_THAT(servers.err, HasSubstr("all_reduce"));
    std::ofstream(file("job.4.et")) << "of another job";
    EXPECT_THAT(simulate_pipeline({"--chakra", file("job")}), exits_with(2, HasSubstr("job.4.et")));
    EXPECT_FALSE(std::filesystem::exists(file("job.0.et")));
}

TEST_F(Simulate, LeavesEarlierTracesWhereTheDiskRefusesOne) {
    std::ofstream(file("job.0.et")) << "as it was";
    std::filesystem::create_directories(file("job.2.et.part"));  // no file can be written there
    const ProcessResult r = simulate_pipeline({"--chakra", file("job")});
    EXPECT_EQ(r.exit_code, 3);
    EXPECT_EQ(contents(file("job.0.et")), "as it was");
    EXPECT_FALSE(std::filesystem::exists(file("job.0.et.part")));
    EXPECT_FALSE(std::filesystem::exists(file("job.1.et.part")));
}

TEST_F(Simulate, ExitsWith1WhenAConditionHoldsAndWith4WhenItDoesNotFit) {
    EXPECT_EQ(simulate_pipeline({"--fail-if", "step_time > 1 us"}).exit_code, 1);
    EXPECT_EQ(run_sextant({"simulate", "scenarios/does-not-fit.json"}).exit_code, 4);
}

}  // namespace
}  // namespace sextant
