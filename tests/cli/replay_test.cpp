// `sextant replay` as scripts use it.
#include "tests/cli/process_json.hpp"
#include "tests/io/chakra_writer.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class ReplayCommand : public TemporaryFolder {
protected:
    // Kernels of 3 ms, an all-reduce of 100 MB, kernels of 2 ms.
    std::string trace(int ranks) {
        for (int r = 0; r < ranks; ++r)
            write("job." + std::to_string(r) + ".et",
                  chakra::file(
                      {chakra::kernel(1, 3000), chakra::call(2, chakra::all_reduce, 100'000'000, {1}), chakra::kernel(3, 2000, {2})}));
        return folder_ / "job";
    }
    void write(const std::string& name, const std::string& bytes) { std::ofstream(folder_ / name, std::ios::binary) << bytes; }
};

TEST_F(ReplayCommand, PlaysATraceOnACluster) {
    const std::string prefix = trace(8);
    const ProcessResult text = run_sextant({"replay", prefix, "--hardware", "dgx-a100"});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("Where the time goes"));
    const Json report = json_of(run_sextant({"replay", prefix, "--hardware", "dgx-a100", "--format", "json"}));
    EXPECT_EQ(report.at("schema"), "replay/1");
    EXPECT_EQ(report.at("all_ranks"), 8);
    // 5 ms of kernels and an all-reduce that ring or tree bring over NVLink at 200 to 250 GB/s: 0.7 to 1.2 ms.
    EXPECT_GT(report.at("step_time_s"), 5.5e-3);
    EXPECT_LT(report.at("step_time_s"), 6.5e-3);
    double sum = 0;
    for (const Json& term : report.at("terms")) sum += term.at("seconds").get<double>();
    EXPECT_NEAR(sum, report.at("step_time_s"), 1e-12);
    EXPECT_EQ(run_sextant({"replay", prefix, "--hardware", "dgx-a100", "--fail-if", "share.collectives > 50 %"}).exit_code, 0);
    EXPECT_EQ(run_sextant({"replay", prefix, "--hardware", "dgx-a100", "--fail-if", "step_time > 5 ms"}).exit_code, 1);
}

TEST_F(ReplayCommand, TakesFilesInAnyOrderAndDrawsThem) {
    trace(2);
    const fs::path picture = folder_ / "step.svg", timeline = folder_ / "step.json";
    const ProcessResult r = run_sextant(
        {"replay", folder_ / "job.1.et", folder_ / "job.0.et", "--hardware", "dgx-a100", "--picture", picture, "--trace", timeline});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    std::stringstream drawn;
    drawn << std::ifstream(picture).rdbuf();
    for (const char* said : {">kernels</text>", ">rank 0</text>", ">rank 1</text>", "replayed on"})
        EXPECT_THAT(drawn.str(), HasSubstr(said));
    for (const char* other : {"forward", "stage"}) EXPECT_THAT(drawn.str(), Not(HasSubstr(other))) << other;
    EXPECT_TRUE(fs::exists(timeline));
}

TEST_F(ReplayCommand, SaysWhichFilesItCannotWriteBeforeItReads) {
    const auto err = [&](const char* trace) { return run_sextant({"replay", "none", "--hardware", "none", "--trace", trace}).err; };
    EXPECT_THAT(err("t.txt"), HasSubstr("FILE.h5"));
    EXPECT_THAT(err("/no/such/folder/t.json"), HasSubstr("cannot write"));
}

TEST_F(ReplayCommand, SaysWhatIsWrong) {
    const std::string prefix = trace(2);
    EXPECT_EQ(run_sextant({"replay", prefix, "--hardware", "no-such-cluster"}).exit_code, 2);
    EXPECT_EQ(run_sextant({"replay", folder_ / "other", "--hardware", "dgx-a100"}).exit_code, 2);
    EXPECT_THAT(run_sextant({"replay", folder_ / "job.0.et", folder_ / "job.0.et", "--hardware", "dgx-a100"}),
                exits_with(2, HasSubstr("rank 1")));
    write("job.1.et", chakra::file({chakra::kernel(1, 3000)}));
    EXPECT_THAT(run_sextant({"replay", prefix, "--hardware", "dgx-a100"}),
                exits_with(2, HasSubstr("rank 1 has 0 collectives of all ranks")));
    write("job.1.et", "no trace");
    EXPECT_EQ(run_sextant({"replay", prefix, "--hardware", "dgx-a100"}).exit_code, 2);
}

TEST_F(ReplayCommand, SaysAllThatIsWrongAtOnce) {
    const ProcessResult r =
        run_sextant({"replay", trace(2), "--hardware", "no-such", "--library", "none", "--precision", "fp3", "--fail-if", "speed > 3"});
    EXPECT_EQ(r.exit_code, 2);
    for (const char* said : {"--hardware: no cluster is called", "--library none", "--precision fp3", "--fail-if 'speed > 3'"})
        EXPECT_THAT(r.err, HasSubstr(said));
}

// As one is found from where we are, whatever folder it is in.
TEST_F(ReplayCommand, TakesAClusterFromAFile) {
    const ProcessResult r = run_sextant({"replay", trace(2), "--hardware", "hardware_profiles/clusters/dgx-a100.json"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.out, run_sextant({"replay", folder_ / "job", "--hardware", "dgx-a100"}).out);
}

}  // namespace
}  // namespace sextant
