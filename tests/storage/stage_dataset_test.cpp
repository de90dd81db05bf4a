#include "backend/storage/stage_dataset.hpp"

#include "backend/storage/page_cache.hpp"
#include "model/base/diagnostics.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class StagingTest : public DatasetTest {
protected:
    StagingTest() { fs::create_directories(at("near")); }
    [[nodiscard]] bool is_empty() const { return fs::directory_iterator(at("near")) == fs::directory_iterator(); }
};

TEST_F(StagingTest, CopiesAndTakesAwayAgain) {
    const fs::path data = make("d", {"files", SampleEncoding::png});
    {
        StagedDataset staged(data, at("near"), StageMode::copy);
        EXPECT_EQ(everything_in(staged.path()), everything_in(data));
        EXPECT_GT(staged.copying(), Seconds{});
        EXPECT_EQ(staged.unpacking(), Seconds{});
        EXPECT_GT(staged.remove(), Seconds{});
        EXPECT_TRUE(is_empty());
    }
    { const StagedDataset again(data / "", at("near"), StageMode::copy); }
    EXPECT_TRUE(is_empty()) << "whoever forgets to remove it";
}

// As of some classes of a dataset that somebody else has.
TEST_F(StagingTest, BringsFoldersThatAreLinks) {
    const fs::path data = make("d", {"files", SampleEncoding::png}), folder = fs::directory_iterator(data)->path();
    const Bytes all = drop_from_cache(data).all;
    fs::rename(folder, at("elsewhere"));
    fs::create_directory_symlink(at("elsewhere"), folder);
    EXPECT_EQ(open_dataset(data)->count(), 20);
    EXPECT_EQ(drop_from_cache(data).all, all);
    const StagedDataset staged(data, at("near"), StageMode::copy);
    fs::remove_all(at("elsewhere"));
    EXPECT_EQ(samples_of(*open_dataset(staged.path())).size(), 20);
}

TEST_F(StagingTest, LeavesOutLinksThatLeadBack) {
    const fs::path data = make("d", {"files", SampleEncoding::png});
    fs::create_directory_symlink(data, data / "whole");
    fs::create_directory_symlink(at("other"), data / "other");
    fs::create_directory(at("other"));
    fs::create_directory_symlink(data, at("other") / "back");
    const StagedDataset staged(data, at("near"), StageMode::copy);
    EXPECT_EQ(open_dataset(staged.path())->count(), 20);
    fs::create_symlink(data / "itself", data / "itself");
    EXPECT_EQ(open_dataset(data)->count(), 20);
}

TEST_F(StagingTest, UnpacksAnArchiveIntoFiles) {
    const fs::path data = make("d.tar", {"tar", SampleEncoding::png});
    const StagedDataset staged(data, at("near"), StageMode::untar);
    const auto reader = open_dataset(staged.path());
    EXPECT_EQ(reader->count(), 20);
    EXPECT_GT(staged.unpacking(), Seconds{});
}

TEST_F(StagingTest, LeavesACopyOfTheSameDatasetToTheJobThatUsesIt) {
    const fs::path data = make("d", {"files", SampleEncoding::png});
    const StagedDataset staged(data, at("near"), StageMode::copy);
    { const StagedDataset of_another_job(data, at("near"), StageMode::copy); }
    EXPECT_EQ(everything_in(staged.path()), everything_in(data));
}

TEST_F(StagingTest, TakesAwayWhatAKilledRunLeft) {
    const fs::path data = make("d", {"files", SampleEncoding::png});
    const auto stage_and_die = [&] {
        const StagedDataset staged(data, at("near"), StageMode::copy);
        ::kill(::getpid(), SIGKILL);
    };
    EXPECT_EXIT(stage_and_die(), testing::KilledBySignal(SIGKILL), "");
    // A shell that outlives it removes its folder, at once but in its own time.
    for (int i = 0; i < 1000 && !is_empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(is_empty());
}

// Where no shell was left to remove it. Locks of another host are not seen on this one.
TEST_F(StagingTest, TakesAwayWhatNobodyOfThisHostHasLocked) {
    const fs::path data = make("d", {"files", SampleEncoding::png});
    char host[256] = {};
    ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
    const fs::path left = at("near") / ("sextant-stage-" + std::string(host) + "-abcdef");
    const fs::path of_another_host = at("near") / "sextant-stage-another-host-abcdef", nobodys = at("near") / "sextant-stage-data";
    for (const fs::path& folder : {left, of_another_host, nobodys}) fs::create_directory(folder);
    { const StagedDataset staged(data, at("near"), StageMode::copy); }
    for (const fs::path& other : {of_another_host, nobodys}) EXPECT_TRUE(fs::remove(other)) << other;
    EXPECT_TRUE(is_empty());
}

TEST_F(StagingTest, LeavesNothingWhereTheFilesystemFillsUp) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small filesystem";
    const fs::path data = make("d", {"files", SampleEncoding::png});
    if (std::system(("mount -t tmpfs -o size=16k tmpfs " + at("near").string() + " 2>/dev/null").c_str()) != 0)
        GTEST_SKIP() << "a small filesystem cannot be mounted here";
    // A few kilobytes, but each file takes a page.
    EXPECT_THROW(StagedDataset(data, at("near"), StageMode::copy), BackendError);
    EXPECT_TRUE(is_empty());
    ASSERT_EQ(std::system(("umount " + at("near").string()).c_str()), 0);
}

TEST_F(StagingTest, RefusesWhatCannotBeAndLeavesNothing) {
    const fs::path data = make("d", {"files", SampleEncoding::png});
    EXPECT_THROW(StagedDataset(data, at("near"), StageMode::untar), InputError) << "no archive";
    EXPECT_THROW(StagedDataset(at("nothing"), at("near"), StageMode::copy), InputError);
    EXPECT_THROW(StagedDataset(data, at("nowhere"), StageMode::copy), InputError);
    EXPECT_TRUE(is_empty());
}

}  // namespace
}  // namespace sextant
