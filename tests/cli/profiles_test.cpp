#include "model/io/format/text_table.hpp"
#include "tests/cli/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProfilesCommand, ShowsADeviceByItsAlias) {
    const ProcessResult r = run_sextant({"profiles", "show", "gtx-1080ti"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("11.34"));
    EXPECT_THAT(r.err, IsEmpty());
}

TEST(ProfilesCommand, FindsAClusterByItsTitle) {
    EXPECT_EQ(run_sextant({"profiles", "show", "SURF Snellius gcn (A100)"}).out, run_sextant({"profiles", "show", "snellius-gcn"}).out);
    EXPECT_EQ(run_sextant({"predict", "scenarios/resnet50-snellius-4xa100.json", "--set", "hardware.cluster=NVIDIA DGX-2"}).exit_code, 0);
}

TEST(ProfilesCommand, TakesTheirFolderBeforeAndAfterWhatItIsAsked) {
    const ProcessResult before = run_sextant({"profiles", "--profiles", "hardware_profiles", "list"}),
                        after = run_sextant({"profiles", "list", "--profiles", "hardware_profiles"});
    EXPECT_EQ(after.exit_code, 0) << after.err;
    EXPECT_EQ(after.out, before.out);
}

TEST(ProfilesCommand, ShowsTheReferenceLatencies) {
    EXPECT_THAT(run_sextant({"profiles", "show", "reference-latencies"}).out, HasSubstr("Errata"));
}

TEST(ProfilesCommand, ShowsAFramework) {
    EXPECT_THAT(run_sextant({"profiles", "show", "Horovod"}).out, HasSubstr("horovod-pytorch: "));
    const ProcessResult json = run_sextant({"profiles", "show", "horovod", "--format", "json"});
    EXPECT_THAT(json.out, HasSubstr("\"schema\": \"framework/1\""));
    EXPECT_EQ(json.exit_code, 0);
}

TEST(ProfilesCommand, ListsModelsAndShowsOneAsAFileOfAWorkload) {
    EXPECT_THAT(run_sextant({"profiles", "list"}).out, testing::ContainsRegex("llama-2-13b +Llama 2 13B +13.0 billion"));
    const ProcessResult shown = run_sextant({"profiles", "show", "llama-2-13b"});
    EXPECT_EQ(shown.exit_code, 0);
    const std::string file = testing::TempDir() + "sextant_shown_model.json";
    std::ofstream(file) << shown.out;
    const ProcessResult r = run_sextant({"predict", "scenarios/llama-3-8b-fsdp-64xh100.json", "--set", "workload=" + file});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("Llama 2 13B"));
    EXPECT_THAT(run_sextant({"profiles", "show", "lama-2-13b"}).err, HasSubstr("did you mean \"llama-2-13b\""));
    std::filesystem::remove(file);
}

TEST(ProfilesCommand, BreaksLongSourcesIntoLines) {
    std::istringstream text(run_sextant({"profiles", "show", "nccl"}).out);
    for (std::string line; std::getline(text, line);) EXPECT_LE(columns_of(line), 100U) << line;
}

TEST(ProfilesCommand, ListsWhatATerminalHolds) {
    std::istringstream text(run_sextant({"profiles", "list"}).out);
    for (std::string line; std::getline(text, line);) EXPECT_LE(columns_of(line), 110U) << line;
}

TEST(ProfilesCommand, ListsOneKindAlone) {
    const std::string links = run_sextant({"profiles", "list", "links"}).out;
    EXPECT_THAT(links, testing::StartsWith("links\n"));
    EXPECT_THAT(links, testing::Not(HasSubstr("devices")));
    EXPECT_THAT(run_sextant({"profiles", "list", "link"}).err, HasSubstr("links"));
}

TEST(ProfilesCommand, AnUnknownNameIsWrongInputWithAHint) {
    const ProcessResult r = run_sextant({"profiles", "show", "snelius-gcn"});
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.out, IsEmpty());
    EXPECT_THAT(r.err, HasSubstr("did you mean \"snellius-gcn\""));
}

// As calibrate --storage writes it.
TEST(ProfilesCommand, ChecksAndShowsAStorageClassInAFileOfItsOwn) {
    const std::filesystem::path file = testing::TempDir() + "sextant_storage_" + std::to_string(::getpid()) + ".json";
    std::ofstream(file) << R"({"schema": "storage/1", "name": "scratch", "type": "nvme", "kind": "measured", "source": "here",
                              "read_bandwidth": "2 GB/s"})";
    const ProcessResult checked = run_sextant({"profiles", "check", file.string()}),
                        shown = run_sextant({"profiles", "show", file.string()});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("scratch"));
    std::filesystem::remove(file);
}

TEST(ProfilesCommand, CheckReportsEveryProblemOfAFileAndExitsWith2) {
    const auto path = std::filesystem::temp_directory_path() / "sextant-profiles-check.json";
    std::ofstream(path) << R"({"schema": "device/1", "name": "x", "memory": "-1 GiB", "memory_bandwidth": "fast", "peaks": []})";
    const ProcessResult r = run_sextant({"profiles", "check", path.string()});
    std::filesystem::remove(path);
    EXPECT_EQ(r.exit_code, 2);
    for (const char* pointer : {":/memory:", ":/memory_bandwidth:", ":/peaks:"}) EXPECT_THAT(r.err, HasSubstr(path.string() + pointer));
}

}  // namespace
}  // namespace sextant
