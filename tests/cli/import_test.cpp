// `sextant import` as people use it.
#include "tests/cli/process_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Import, SaysHowLongSequencesAreAndWhy) {
    const auto said = [](const char* config, const std::vector<std::string>& options = {}) {
        std::vector<std::string> all{"import", "hf", std::string("tests/io/hf_configs/") + config};
        all.insert(all.end(), options.begin(), options.end());
        return run_sextant(all).err;
    };
    EXPECT_THAT(said("llama.json"), HasSubstr("\nsequences of 8192 tokens; the model takes up to 131072: --seq-len\n"));
    EXPECT_THAT(said("llama.json", {"--seq-len", "16384"}),
                HasSubstr("\nsequences of 16384 tokens, as --seq-len says; the model takes up to 131072\n"));
    EXPECT_THAT(said("gpt_neox.json", {"--seq-len", "4096"}),
                HasSubstr("\nsequences of 4096 tokens, as --seq-len says; its config states 2048\n"));
    EXPECT_THAT(said("gpt2.json"), HasSubstr("\nsequences of 1024 tokens, as its config says\n"));
    EXPECT_THAT(said("vit.json"), Not(HasSubstr("sequences of")));
    EXPECT_THAT(said("gpt2.json", {"--seq-len", "2048"}), HasSubstr("--seq-len 1024 at most"));
    EXPECT_EQ(run_sextant({"import", "hf", "tests/io/hf_configs/gpt2.json", "--seq-len", "0"}).exit_code, 2);
}

TEST(Import, NamesTheFileWhoseNetworkCannotBeBuilt) {
    const std::string file = testing::TempDir() + "sextant_config_" + std::to_string(::getpid()) + ".json";
    std::ifstream in(SEXTANT_SOURCE_DIR "/tests/io/hf_configs/llama.json");
    nlohmann::json config = nlohmann::json::parse(in);
    config["num_key_value_heads"] = 5;  // which does not divide its 32 heads
    std::ofstream(file) << config;
    EXPECT_THAT(run_sextant({"import", "hf", file}),
                exits_with(2, StartsWith(file + ": is no network that can be built: kv_heads must divide")));
    std::filesystem::remove(file);
}

TEST(Import, AModuleOfPyTorchStandsInAScenarioAsItIsOrImported) {
    const std::string program = SEXTANT_SOURCE_DIR "/tests/io/torch_programs/archive.pt2";
    const std::string file = testing::TempDir() + "sextant_module_" + std::to_string(::getpid()) + ".json";
    EXPECT_THAT(run_sextant({"import", "torch", program, "--out", file}).out, HasSubstr("archive: 0.00004600 million parameters"));
    const auto predicted = [](const std::string& workload) {
        return json_of(run_sextant({"predict", "scenarios/default.json", "--set", "workload=" + workload, "--format", "json"}));
    };
    const nlohmann::json as_it_is = predicted(program);
    EXPECT_EQ(as_it_is, predicted(file));
    EXPECT_GT(as_it_is.at("step_time_s"), 0);
    EXPECT_THAT(run_sextant({"predict", "scenarios/default.json", "--set", "workload=absent.pt2"}), exits_with(2, HasSubstr("absent.pt2")));
    std::filesystem::remove(file);
}

TEST(Import, LeavesTheFileThatWasThereWhereItCannotWriteAllOfAnother) {
    const std::string file = testing::TempDir() + "sextant_import_" + std::to_string(::getpid()) + ".json";
    std::ofstream(file) << "as it was";
    std::filesystem::create_directory(file + ".part");  // no file can be written there
    EXPECT_EQ(run_sextant({"import", "hf", "tests/io/hf_configs/mistral.json", "--out", file}).exit_code, 3);
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    EXPECT_EQ(text.str(), "as it was");
    std::filesystem::remove(file);
    std::filesystem::remove(file + ".part");
}

}  // namespace
}  // namespace sextant
