#include "tests/cli/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ValidateCommand, PrintsJsonForEveryRowOfAFile) {
    const ProcessResult r = run_sextant({"validate", "measurements/transformer/korthikanti2022.json", "--format", "json"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.err, IsEmpty());  // no progress in a pipe
    const auto json = nlohmann::json::parse(r.out);
    const auto& file = json.at("files").at(0);
    EXPECT_EQ(file.at("rows"), 10);
    EXPECT_EQ(file.at("predicted"), 10);
    EXPECT_EQ(file.at("results").size(), 10U);
    EXPECT_EQ(json.at("total").at("rows"), 8);  // those that are complete
    EXPECT_LT(file.at("step_time").at("mape"), 1);
}

TEST(ValidateCommand, AFileThatIsNotThereIsWrongInput) {
    const ProcessResult r = run_sextant({"validate", "measurements/none.json"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, HasSubstr("measurements/none.json"));
    EXPECT_THAT(r.out, IsEmpty());
    EXPECT_EQ(run_sextant({"validate", ""}).exit_code, 2);
    EXPECT_THAT(run_sextant({"validate", "measurements"}).err, HasSubstr("is a directory\n  hint: name a file in it"));
}

// Of collectives nobody measured memory.
TEST(ValidateCommand, ShowsNoColumnThatIsEmpty) {
    const std::string text = run_sextant({"validate", "measurements/collectives/deepbench_allreduce.json"}).out;
    EXPECT_THAT(text, HasSubstr("MAPE"));
    EXPECT_THAT(text, testing::Not(HasSubstr("memory MAPE")));
}

TEST(ValidateCommand, AFileThatRowsStandOnSaysItsOwnProblemOnce) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(testing::TempDir()) / ("sextant-validate-" + std::to_string(::getpid()));
    fs::create_directories(root);
    for (const char* folder : {"frameworks", "hardware_profiles"})
        fs::copy(fs::path(SEXTANT_SOURCE_DIR) / folder, root / folder, fs::copy_options::recursive);
    const std::string rows = "measurements/transformer/korthikanti2022.json", profiles = (root / "hardware_profiles").string();
    for (const char* name : {"frameworks/megatron-lm-2021.json", "hardware_profiles/devices/a100-sxm4-80gb.json"}) {
        const fs::path file = root / name;
        std::ifstream in(file);
        const std::string good((std::istreambuf_iterator<char>(in)), {});
        std::ofstream(file) << "{\"nonsense\": 1," << good.substr(good.find('{') + 1);
        const ProcessResult r = run_sextant({"validate", rows, "--profiles", profiles});
        EXPECT_EQ(r.exit_code, 2);
        EXPECT_EQ(r.err, file.string() + ":/nonsense: unknown key \"nonsense\"\n  hint: did you mean \"notes\"?\n");
        std::ofstream(file) << good;
    }
    fs::remove_all(root);
}

// A row is the scenario that predicts it.
TEST(ValidateCommand, ARowIsAScenarioByItself) {
    const std::string file = "measurements/transformer/korthikanti2022.json";
    const ProcessResult all = run_sextant({"validate", file, "--format", "json"});
    ASSERT_EQ(all.exit_code, 0) << all.err;
    const auto json = nlohmann::json::parse(all.out);
    const auto& row = json.at("files").at(0).at("results").at(0);
    const std::string id = row.at("id");
    const ProcessResult one = run_sextant({"predict", file + "#" + id, "--format", "json"});
    ASSERT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(nlohmann::json::parse(one.out).at("step_time_s"), row.at("predicted_step_time_s"));

    EXPECT_THAT(run_sextant({"predict", file + "#none"}), exits_with(2, HasSubstr("no row \"none\"")));
    EXPECT_THAT(run_sextant({"predict", "measurements/collectives/deepbench_allreduce.json#deepbench_allreduce-00035"}),
                exits_with(2, HasSubstr("no training run")));
}

TEST(ValidateCommand, TheSameInputGivesTheSameBytes) {
    const std::vector<std::string> arguments{"validate", "measurements/transformer/megatron_sc21.json", "--rows", "--group-by", "gpu"};
    EXPECT_EQ(run_sextant(arguments).out, run_sextant(arguments).out);
}

}  // namespace
}  // namespace sextant
