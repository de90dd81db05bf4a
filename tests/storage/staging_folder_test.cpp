#include "backend/storage/staging_folder.hpp"

#include "tests/temporary_folder.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

using StagingFolderTest = TemporaryFolder;

TEST_F(StagingFolderTest, GoesWithItsOwner) {
    fs::path path;
    {
        const StagingFolder folder(folder_);
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
        const StagingFolder folder(folder_);
        std::ofstream(folder.path() / "sample") << "x";
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(owner, nullptr, 0);
    using namespace std::chrono_literals;
    for (auto waited = 0ms; waited < 20s && !fs::is_empty(folder_); waited += 20ms) std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace sextant
