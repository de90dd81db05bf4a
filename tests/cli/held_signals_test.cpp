#include "cli/held_signals.hpp"

#include "cli/child_process.hpp"
#include "cli/scratch_folder.hpp"
#include "tests/temporary_folder.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class HeldSignalsTest : public TemporaryFolder {
protected:
    void TearDown() override {
        EXPECT_TRUE(fs::is_empty(folder_)) << "left behind";
        TemporaryFolder::TearDown();
    }
};

TEST_F(HeldSignalsTest, ThatComeBetweenTwoChildrenAreThrownInsteadOfTheNext) {
    const auto work = [&] {
        const fs::path started = folder_ / "started";
        try {
            const ScratchFolder scratch(folder_);
            run_child({"true"}, [](const std::string&) {});
            ::raise(SIGTERM);
            run_child({"touch", started.string()}, [](const std::string&) {});
        } catch (const Interrupted& by) {
            std::_Exit(by.signal);
        }
        std::_Exit(0);
    };
    EXPECT_EXIT(work(), testing::ExitedWithCode(SIGTERM), "");
}

TEST_F(HeldSignalsTest, ThatNoChildMeetsEndTheProcessWhenTheFolderIsGone) {
    const auto work = [&] {
        std::signal(SIGINT, SIG_DFL);  // a shell that runs the tests in the background has it ignored
        {
            const ScratchFolder scratch(folder_);
            const ScratchFolder another(folder_);
            ::raise(SIGINT);
        }
        std::_Exit(0);
    };
    EXPECT_EXIT(work(), testing::KilledBySignal(SIGINT), "");
}

TEST_F(HeldSignalsTest, OfAKilledProcessTheNextRemovesTheFolder) {
    const fs::path users = folder_ / "sextant-users";
    fs::create_directory(users);
    const auto killed = [&] {
        const ScratchFolder scratch(folder_);
        ::raise(SIGKILL);
    };
    EXPECT_EXIT(killed(), testing::KilledBySignal(SIGKILL), "");
    const auto folders = [&] { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); };
    EXPECT_EQ(folders(), 2);
    {
        const ScratchFolder living(folder_);
        const ScratchFolder another(folder_);
        EXPECT_EQ(folders(), 3);
        EXPECT_TRUE(fs::exists(living.path()));
        EXPECT_TRUE(fs::exists(users));
    }
    fs::remove(users);
}

TEST_F(HeldSignalsTest, AThirdOneKillsAChildThatMindsNone) {
    const auto work = [&] {
        const fs::path deaf = folder_ / "deaf";
        std::jthread sender([&] {
            using namespace std::chrono_literals;
            while (!fs::exists(deaf)) std::this_thread::sleep_for(10ms);
            sigset_t taken;
            sigemptyset(&taken);
            sigaddset(&taken, SIGTERM);
            ::pthread_sigmask(SIG_BLOCK, &taken, nullptr);  // the other thread is to take them, one by one: two at once are one
            for (int i = 0; i < 3; ++i) {
                ::kill(::getpid(), SIGTERM);
                for (sigset_t left; ::sigpending(&left) == 0 && sigismember(&left, SIGTERM) == 1;) std::this_thread::sleep_for(1ms);
            }
        });
        int signal = 0;
        try {
            run_child({"sh", "-c", "trap '' TERM; touch " + deaf.string() + "; while :; do sleep 0.05; done"}, [](const std::string&) {});
        } catch (const Interrupted& by) {
            signal = by.signal;
        }
        sender.join();
        fs::remove(deaf);
        std::_Exit(signal);
    };
    EXPECT_EXIT(work(), testing::ExitedWithCode(SIGTERM), "");
}

TEST_F(HeldSignalsTest, OfATerminalThatIsGoneStayIgnoredWhereTheyWere) {
    const auto work = [&] {
        std::signal(SIGHUP, SIG_IGN);
        const HeldSignals held;
        ::raise(SIGHUP);
        std::_Exit(run_child({"sh", "-c", "kill -HUP $$; exit 7"}, [](const std::string&) {}));
    };
    EXPECT_EXIT(work(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sextant
