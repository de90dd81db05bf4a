// What starts an executor: words for mpirun and srun, scripts for sbatch, and the child process itself.
#include "cli/launch.hpp"
#include "cli/child_process.hpp"
#include "cli/held_signals.hpp"
#include "model/base/diagnostics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Launch four_ranks() {
    Launch l;
    l.ranks = 4;
    l.hosts = 2;
    l.ranks_per_host = 2;
    l.threads = 3;
    l.program = {"exec", "my scenario.json", "--set", "plan.tp=2"};
    return l;
}

TEST(Launch, StartsAllRanksOnThisMachineUnbound) {
    EXPECT_THAT(command_of(four_ranks()),
                ElementsAre("mpirun", "-n", "4", "--bind-to", "none", "--oversubscribe", "exec", "my scenario.json", "--set", "plan.tp=2"));
}

TEST(Launch, FillsHostsAsThePlanFillsNodes) {
    Launch l = four_ranks();
    l.host_file = "hosts";
    l.as_root = true;
    l.options = {"--mca", "btl", "tcp,self"};
    EXPECT_THAT(
        shell_line(command_of(l)),
        "mpirun -n 4 --bind-to none --oversubscribe --hostfile hosts --map-by ppr:2:node --allow-run-as-root --mca btl tcp,self exec "
        "'my scenario.json' --set plan.tp=2");
}

TEST(Launch, NamesTheHostOfEachRankWhereTheyDoNotFillOneAfterTheOther) {
    Launch l = four_ranks();
    l.host_file = "hosts";
    l.hosts_of_ranks = {"a", "b", "a", "b"};
    EXPECT_THAT(shell_line(command_of(l)),
                testing::StartsWith("mpirun -n 4 --bind-to none --oversubscribe --host a,b,a,b --map-by seq exec "));
    l.launcher = Launcher::srun;
    l.in_turn = true;
    EXPECT_THAT(shell_line(command_of(l)),
                testing::StartsWith("srun --ntasks 4 --cpu-bind=none --kill-on-bad-exit=1 --distribution=cyclic exec "));
}

TEST(Launch, LeavesHostsToSlurm) {
    Launch l = four_ranks();
    l.launcher = Launcher::srun;
    l.as_root = true;
    EXPECT_THAT(shell_line(command_of(l)), "srun --ntasks 4 --cpu-bind=none --kill-on-bad-exit=1 exec 'my scenario.json' --set plan.tp=2");
}

TEST(Launch, TakesSomebodysOwnWordsAndAddsTheRanks) {
    Launch l = four_ranks();
    l.command = {"srun", "--partition", "gpu"};
    l.options = {"--exclusive"};
    EXPECT_THAT(shell_line(command_of(l)), "srun --partition gpu -n 4 --exclusive exec 'my scenario.json' --set plan.tp=2");
}

TEST(Launch, AsksSlurmForWhatThePlanNeeds) {
    const std::string script = slurm_script(four_ranks(), "it's\n#SBATCH \"mine\"", "/a b");
    EXPECT_EQ(script,
              "#!/bin/bash\n"
              "#SBATCH --job-name=\"it's-#SBATCH--mine-\"\n"
              "#SBATCH --nodes=2\n"
              "#SBATCH --ntasks=4\n"
              "#SBATCH --ntasks-per-node=2\n"
              "#SBATCH --cpus-per-task=3\n"
              "\n"
              "set -euo pipefail\n"
              "cd '/a b'\n"
              "exec srun --ntasks 4 --cpu-bind=none --kill-on-bad-exit=1 exec 'my scenario.json' --set plan.tp=2\n");
}

TEST(Launch, QuotesForAShell) { EXPECT_EQ(shell_line({"a", "", "b c", "it's", "$HOME"}), "a '' 'b c' 'it'\\''s' '$HOME'"); }

std::vector<std::string> heard(const std::string& script, int& code) {
    std::vector<std::string> lines;
    code = run_child({"sh", "-c", script}, [&](const std::string& line) { lines.push_back(line); });
    return lines;
}

TEST(ChildProcess, IsHeardLineByLineAndEndsWithItsCode) {
    int code = 0;
    EXPECT_THAT(heard("echo one; echo; printf three; exit 7", code), ElementsAre("one", "", "three"));
    EXPECT_EQ(code, 7);
}

TEST(ChildProcess, TellsWhichSignalEndedIt) {
    int code = 0;
    heard("kill -KILL $$", code);
    EXPECT_EQ(code, 128 + SIGKILL);
}

TEST(ChildProcess, SaysWhatCannotBeStarted) {
    try {
        run_child({"/no/such/program"}, [](const std::string&) {});
        FAIL();
    } catch (const BackendError& e) {
        EXPECT_THAT(e.what(), HasSubstr("/no/such/program cannot be started: No such file or directory"));
    }
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", "/no/such/folder", 1);
    try {
        run_child({"mpirun"}, [](const std::string&) {});
        ADD_FAILURE();
    } catch (const BackendError& e) {
        EXPECT_THAT(e.what(), HasSubstr("it comes with Open MPI"));
    }
    ::setenv("PATH", path.c_str(), 1);
}

// A parent in a process of its own, whose child ignores nothing and would wait for a minute.
TEST(ChildProcess, GetsTheSignalsOfItsParent) {
    constexpr int most_waits = 6000;  // of 10 ms: for a busy machine
    for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
        const std::string file = testing::TempDir() + "sextant_child_" + std::to_string(::getpid());
        std::filesystem::remove(file);
        const pid_t parent = ::fork();
        if (parent == 0) {
            try {
                run_child({"sh", "-c", "echo $$ > " + file + "; exec sleep 60"}, [](const std::string&) {});
            } catch (const Interrupted& by) {
                ::_exit(by.signal);
            }
            ::_exit(0);
        }
        pid_t child = 0;
        for (int i = 0; i < most_waits && child == 0; ++i) {
            ::usleep(10'000);
            std::ifstream(file) >> child;
        }
        ASSERT_GT(child, 0);
        ::kill(parent, signal);
        int status = 0;
        ::waitpid(parent, &status, 0);
        EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), signal);
        int left = most_waits;
        for (; ::kill(child, 0) == 0 && left > 0; --left) {
            ::waitpid(child, nullptr, WNOHANG);  // it is ours once another test has called run_child: that takes orphans in
            ::usleep(10'000);
        }
        EXPECT_GT(left, 0) << "signal " << signal << " left the child behind";
        std::filesystem::remove(file);
    }
}

}  // namespace
}  // namespace sextant
