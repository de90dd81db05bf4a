#include "backend/storage/staging_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class StagingFolderTest : public testing::Test {
protected:
    void SetUp() override { fs::create_directory(in_); }
    void TearDown() override { fs::remove_all(in_); }

    const fs::path in_ = fs::path(testing::TempDir()) / ("sextant_staging_" + std::to_string(::getpid()));
};

TEST_F(StagingFolderTest, GoesWithItsOwner) {
    fs::path path;
    {
        const StagingFolder folder(in_);
        path = folder.path();
        std::ofstream(path / "sample") << "x";
        EXPECT_TRUE(fs::is_directory(path));
    }
    EXPECT_FALSE(fs::exists(path));
}

// MPI_Abort ends ranks like this, and a scheduler.
TEST_F(StagingFolderTest, GoesWhenItsOwnerIsKilled) {
    const pid_t owner = ::fork();
    if (owner == 0) {
        const StagingFolder folder(in_);
        std::ofstream(folder.path() / "sample") << "x";
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(owner, nullptr, 0);
    using namespace std::chrono_literals;
    for (auto waited = 0ms; waited < 20s && !fs::is_empty(in_); waited += 20ms) std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(fs::is_empty(in_));
}

}  // namespace
}  // namespace sextant
