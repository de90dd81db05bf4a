// `sextant calibrate` on the machine at hand, as ./run uses it.
#include "model/io/profile_reader.hpp"
#include "model/sextant.hpp"
#include "tests/cli/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

namespace sextant {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Calibrate : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(fs::path(SEXTANT_BINARY).parent_path() / "sextant-exec-cpu")) GTEST_SKIP() << "built without oneDNN and MPI";
    }
    void TearDown() override { fs::remove(profile_); }
    std::string profile_ = (fs::temp_directory_path() / ("sextant-calibrate-test-" + std::to_string(::getpid()) + ".json")).string();
};

TEST_F(Calibrate, WritesAProfileThatPredictsThisMachine) {
    const ProcessResult r = run_sextant({"calibrate", "--quick", "--out", profile_});
    if (r.exit_code == 3 && r.err.find("too busy to be measured") != std::string::npos) GTEST_SKIP() << r.err;
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("fp32 rate that large products sustain"));
    Library library = open_library();
    Diagnostics problems;
    const Cluster* cluster = find_cluster(library.catalog, profile_, problems);
    ASSERT_NE(cluster, nullptr) << to_text(problems.list().front());
    ASSERT_TRUE(cluster->calibration);
    EXPECT_GE(cluster->calibration->runs, 5);
    EXPECT_EQ(cluster->node.device.memory_bandwidth.kind, SourceKind::measured);
    // Any core since 2010, and none yet.
    const FlopRate rate = cluster->node.device.peaks.back().rate.value;
    EXPECT_GT(rate.si(), 1e9);
    EXPECT_LT(rate.si(), 1e13);
}

TEST_F(Calibrate, SaysBeforeItMeasuresWhatItCannotWriteOrWasNotTold) {
    EXPECT_EQ(run_sextant({"calibrate", "--quick", "--out", "/no/such/folder/p.json"}).exit_code, 3);
    EXPECT_EQ(run_sextant({"calibrate"}).exit_code, 2);
    EXPECT_EQ(run_sextant({"calibrate", "--from", "/no/such/file.json"}).exit_code, 2);
}

}  // namespace
}  // namespace sextant
