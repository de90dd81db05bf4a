// `sextant run` under a real Slurm of one machine, where one can be started (scripts/slurm).
#include "tests/cli/tiny_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sextant {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

class RunUnderSlurm : public TinyRun {
protected:
    RunUnderSlurm() : TinyRun("two-core-reference") {}

    void SetUp() override {
        TinyRun::SetUp();
        if (IsSkipped()) return;
        const ProcessResult probe = in_slurm({"true"});
        if (probe.exit_code == 3) GTEST_SKIP() << probe.err;
        ASSERT_EQ(probe.exit_code, 0) << probe.err;
        const ProcessResult plugins = in_slurm({"srun", "--mpi=list"});
        if ((plugins.out + plugins.err).find("pmix") == std::string::npos)
            GTEST_SKIP() << "this srun has no PMIx, by which Open MPI starts";
    }
    static ProcessResult in_slurm(const std::vector<std::string>& command) {
        return run_program(SEXTANT_SOURCE_DIR "/scripts/slurm", command);
    }
    // One job of two ranks that exchanged their gradients, not two jobs of one.
    static void expect_two_ranks(const std::string& record) {
        ASSERT_TRUE(fs::exists(record));
        const Json run = Json::parse(std::ifstream(record));
        EXPECT_EQ(run["environment"]["ranks"].size(), 2U);
        EXPECT_EQ(run["step_times_s"].size(), 4U);
        const Json& kinds = run["trace"]["spans"]["kind"];
        EXPECT_NE(std::ranges::find(kinds, "data_exchange"), kinds.end());
    }
};

TEST_F(RunUnderSlurm, SrunStartsTheRanksInsideAnAllocation) {
    const ProcessResult r = in_slurm(
        {"salloc", "--quiet", "--ntasks", "2", SEXTANT_BINARY, "run", file("tiny.json"), "--steps", "4", "--out", file("run.json")});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, testing::HasSubstr("2 ranks on "));
    expect_two_ranks(file("run.json"));
}

TEST_F(RunUnderSlurm, SbatchRunsTheScriptThatPrintLaunchWrites) {
    const ProcessResult script =
        run_sextant({"run", file("tiny.json"), "--steps", "4", "--out", file("batch.json"), "--print-launch", "slurm"});
    ASSERT_EQ(script.exit_code, 0) << script.err;
    std::ofstream(file("job.sh")) << script.out;
    const ProcessResult r = in_slurm({"sbatch", "--wait", "--output", file("job.log"), file("job.sh")});
    ASSERT_EQ(r.exit_code, 0) << r.err << std::ifstream(file("job.log")).rdbuf();
    expect_two_ranks(file("batch.json"));
}

}  // namespace
}  // namespace sextant
