#include "backend/exec/memory_check.hpp"

#include "model/sextant.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using units::GB;

Scenario scenario(const std::vector<std::string>& overrides) { return bundled_scenario("default", overrides); }

// A system of files under a folder of its own.
class AvailableMemory : public TemporaryFolder {
protected:
    void SetUp() override {
        put("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    8000000 kB\n");
    }
    void put(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((folder_ / file).parent_path());
        std::ofstream(folder_ / file) << text;
    }
};

TEST_F(AvailableMemory, IsWhatTheSystemSays) {
    EXPECT_DOUBLE_EQ(available_memory(folder_) / units::KiB, 8e6);
    EXPECT_GT(available_memory(folder_ / "nothing"), 1e15 * units::B) << "who says nothing limits nothing";
}

// The job's group has no limit, the one around it 3 GB, of which 2 GB are used; 0.5 GB of that is page cache.
TEST_F(AvailableMemory, IsNoMoreThanControlGroupsLeave) {
    put("proc/self/cgroup", "0::/slurm/job\n");
    put("sys/fs/cgroup/slurm/job/memory.max", "max\n");
    put("sys/fs/cgroup/slurm/job/memory.current", "100\n");
    put("sys/fs/cgroup/slurm/memory.max", "3000000000\n");
    put("sys/fs/cgroup/slurm/memory.current", "2000000000\n");
    put("sys/fs/cgroup/slurm/memory.stat", "anon 1500000000\ninactive_file 500000000\n");
    EXPECT_DOUBLE_EQ(available_memory(folder_) / GB, 1.5);
}

TEST_F(AvailableMemory, IsNoMoreThanControlGroupsOfTheFirstVersionLeave) {
    put("proc/self/cgroup", "5:cpu:/\n4:memory:/job\n");
    put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000000000\n");
    put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2000000000\n");
    EXPECT_DOUBLE_EQ(available_memory(folder_) / GB, 1.0);
}

// Two ranks of 3 GB each: 6 GB fit in the 7 GB of one host and not in 5 GB; on two hosts of 5 GB each has 3 GB.
TEST(MemoryRefusal, CountsTheRanksOfAHost) {
    const Scenario s = scenario({});
    EXPECT_THAT(memory_refusal(s, std::vector<RankNeed>{{"a", 7.0 * GB, 3.0 * GB}, {"a", 7.0 * GB, 3.0 * GB}}), IsEmpty());
    EXPECT_THAT(memory_refusal(s, std::vector<RankNeed>{{"a", 5.0 * GB, 3.0 * GB}, {"b", 5.0 * GB, 3.0 * GB}}), IsEmpty());
    const std::string why = memory_refusal(s, std::vector<RankNeed>{{"a", 5.0 * GB, 3.0 * GB}, {"a", 5.0 * GB, 3.0 * GB}});
    EXPECT_THAT(why, HasSubstr("does not fit in memory: 2 ranks on a will need 6.00 GB, and 5.00 GB are available"));
    EXPECT_THAT(why, HasSubstr("a smaller micro_batch, \"recompute\": \"full\", \"data_parallel\": \"zero3\""));
    EXPECT_THAT(memory_refusal(scenario({"plan.micro_batch=1"}), std::vector<RankNeed>{{"a", 1.0 * GB, 3.0 * GB}}),
                Not(HasSubstr("micro_batch")));
}

// What is offloaded is as large whatever the micro-batch: a host that it fills is not helped by a smaller one.
TEST(MemoryRefusal, OfAHostFullOfWhatIsOffloadedNamesWhatWouldHelp) {
    const std::vector<RankNeed> needs{{"gpu 0 of a", 9.0 * GB, 3.0 * GB}, {"a", 5.0 * GB, 6.0 * GB, true}};
    const std::string why = memory_refusal(scenario({"plan.offload=optimizer"}), needs);
    EXPECT_THAT(why, HasSubstr("1 rank on a will need 6.00 GB, and 5.00 GB are available there; what would help: "
                               "\"data_parallel\": \"zero1\", \"offload\": \"none\", more hosts with fewer ranks on each"));
    EXPECT_THAT(memory_refusal(scenario({"plan.offload=optimizer_and_parameters", "plan.data_parallel=zero3"}), needs),
                HasSubstr("what would help: \"offload\": \"optimizer\", \"offload\": \"none\", more hosts"));
}

// The default's 5 million parameters, in fp32 with Adam: 16 bytes each are 85 MB, beside activations.
TEST(PredictedPeaks, AreOfEveryRank) {
    const std::vector<Bytes> peaks = predicted_peaks(scenario({}));
    ASSERT_EQ(peaks.size(), 2U);
    EXPECT_GT(peaks[0], 0.085 * GB);
    EXPECT_LT(peaks[0], 1.0 * GB);
    EXPECT_EQ(peaks[0], peaks[1]);
    const std::vector<Bytes> served = predicted_peaks(scenario({"plan.data_parallel=parameter_server", "plan.servers_on_workers=true"}));
    ASSERT_EQ(served.size(), 3U);
    EXPECT_GT(served[2], 0.085 * GB) << "weights, sums and the two states of Adam";
    EXPECT_LT(served[2], 0.1 * GB);
}

// Two states of four bytes leave the device, half of its 16 bytes for a parameter, and the host has these, a gradient and a weight: all 16.
// Of two shards each rank has half.
TEST(PredictedOffload, IsWhatTheHostHasForARank) {
    EXPECT_EQ(predicted_offload(scenario({})), Bytes{});
    const Bytes offloaded = predicted_offload(scenario({"plan.offload=optimizer"}));
    const Bytes falls = predicted_peaks(scenario({}))[0] - predicted_peaks(scenario({"plan.offload=optimizer"}))[0];
    EXPECT_NEAR(offloaded / (0.085 * GB), 1, 0.01);
    EXPECT_NEAR(falls / offloaded, 0.5, 1e-9);
    EXPECT_NEAR(predicted_offload(scenario({"plan.offload=optimizer", "plan.data_parallel=zero1"})) / offloaded, 0.5, 1e-9);
}

}  // namespace
}  // namespace sextant
