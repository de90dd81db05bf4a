// Files that commands read and write: none is written over that was read, and names lead where a user means.
#include "tests/cli/process.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sextant {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class Files : public TemporaryFolder {
protected:
    static std::string contents(const fs::path& file) {
        std::ostringstream text;
        text << std::ifstream(file).rdbuf();
        return text.str();
    }
    static fs::path bundled(const std::string& name) { return fs::path(SEXTANT_SOURCE_DIR) / name; }

    // The default scenario with its network in a file beside it.
    void SetUp() override {
        TemporaryFolder::SetUp();
        Json scenario = Json::parse(contents(bundled("scenarios/default.json")));
        Json network = scenario.at("workload");
        network["schema"] = "workload/1";
        std::ofstream(workload_) << network.dump();
        scenario["workload"] = "wl.json";
        std::ofstream(scenario_) << scenario.dump();
    }

    const std::string workload_ = file("wl.json"), scenario_ = file("s.json");
};

TEST_F(Files, NoneIsWrittenOverThatACommandReads) {
    const std::string model = file("model.json"), measured = file("m.json");
    fs::copy_file(bundled("tests/io/hf_configs/bert.json"), model);
    fs::copy_file(bundled("measurements/transformer/internevo_7b.json"), measured);
    const std::vector<std::vector<std::string>> commands{
        {"export", "torchrun", scenario_, "--set", "framework=pytorch-ddp", "--out", scenario_},
        {"import", "hf", model, "--out", model},
        {"validate", measured, "--html", measured},
        {"predict", scenario_, "--html", workload_},
        {"predict", "scenarios/default.json", "--set", "workload=" + workload_, "--html", workload_},
        {"plan", scenario_, "--save-best", workload_, "--no-simulate"}};
    for (const auto& words : commands) {
        const std::string& out = words[words.size() - (words.back() == "--no-simulate" ? 2 : 1)];
        const std::string before = contents(out);
        ASSERT_FALSE(before.empty()) << out;
        const ProcessResult r = run_sextant(words);
        EXPECT_EQ(r.exit_code, 2) << words.front() << '\n' << r.err;
        EXPECT_THAT(r.err, HasSubstr("would be written over"));
        EXPECT_EQ(contents(out), before) << words.front();
    }
}

TEST_F(Files, NoNameAndADashAreNoFileToWrite) {
    for (const char* name : {"", "-"}) EXPECT_EQ(run_sextant({"predict", scenario_, "--html", name}).exit_code, 2);
}

TEST_F(Files, ANameInAScenarioIsLookedUpBesideItAndOneOfSetWhereTheProgramRuns) {
    EXPECT_EQ(run_sextant({"predict", scenario_}).exit_code, 0);  // the workload is not where the program runs
    // "scenarios/" is there, and not beside the scenario.
    const ProcessResult r =
        run_sextant({"predict", scenario_, "--set", "hardware.cluster=hardware_profiles/clusters/two-core-reference.json"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(run_sextant({"predict", scenario_, "--set", "workload=wl.json"}).exit_code, 2);
}

TEST_F(Files, TheBestPlanIsSavedWithNamesThatLeadToTheSameFiles) {
    fs::create_directory(folder_ / "best");
    const std::string best = file("best/b.json");
    EXPECT_EQ(run_sextant({"plan", scenario_, "--no-simulate", "--save-best", best}).exit_code, 0);
    EXPECT_EQ(Json::parse(contents(best)).at("workload"), "../wl.json");
    EXPECT_EQ(run_sextant({"predict", best}).exit_code, 0);
}

TEST_F(Files, OneThatIsNamedTwiceDoesNotCountTwice) {
    const std::string row = "measurements/transformer/internevo_7b.json";
    EXPECT_THAT(run_sextant({"validate", row, "./" + row}), exits_with(2, HasSubstr("named twice")));
}

}  // namespace
}  // namespace sextant
