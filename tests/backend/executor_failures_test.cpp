// What becomes of a job when one of its processes dies, hangs or runs out of memory: real processes, hurt at points that are drawn.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Clock = std::chrono::steady_clock;
constexpr auto patience = 60s;  // with a machine that is busy

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// Processes whose parent is this one.
std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> found;
    std::istringstream list(text_of("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children"));
    for (pid_t p = 0; list >> p;) found.push_back(p);
    return found;
}

// A process that has ended and was not waited for yet is a zombie.
bool runs(pid_t process) {
    const std::string status = text_of("/proc/" + std::to_string(process) + "/stat");
    const std::size_t behind_name = status.rfind(')');
    return behind_name != std::string::npos && status.compare(behind_name + 2, 1, "Z") != 0;
}

bool gives_signs_of_life(pid_t process) {
    std::error_code gone;
    return std::ranges::any_of(std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", gone),
                               [](const auto& thread) { return text_of(thread.path() / "comm") == "heartbeat\n"; });
}

class ExecutorFailures : public MpiTest {
protected:
    void SetUp() override {
        MpiTest::SetUp();
        ::unsetenv("OMPI_MCA_odls_base_sigkill_timeout");  // ranks say how others ended
    }
    struct Outcome {
        int exit_code = -1;
        std::string err;
    };
    // Hurts the ranks once they are there.
    using Hurt = std::function<void(const std::vector<pid_t>&)>;

    // Expects that everything ends soon after that (in six seconds, where nothing else slows the machine), and that nothing is left.
    Outcome run(std::vector<std::string> words, std::size_t ranks, const Hurt& hurt) const {
        words.insert(words.begin(), {SEXTANT_MPIRUN, "-n", std::to_string(ranks)});
        const pid_t mpirun = start(words);
        std::vector<pid_t> processes;
        for (const auto begin = Clock::now(); processes.size() < ranks && Clock::now() - begin < patience; std::this_thread::sleep_for(5ms))
            processes = children_of(mpirun);
        EXPECT_EQ(processes.size(), ranks);
        hurt(processes);
        const auto hurt_at = Clock::now();
        std::optional<int> status;
        for (bool all_gone = false; !all_gone && Clock::now() - hurt_at < patience; std::this_thread::sleep_for(10ms)) {
            int s = 0;
            if (!status && waitpid(mpirun, &s, WNOHANG) == mpirun) status = s;
            std::erase_if(processes, std::not_fn(runs));
            all_gone = status && processes.empty();
        }
        EXPECT_TRUE(status.has_value()) << "mpirun did not end";
        EXPECT_THAT(processes, IsEmpty()) << "processes are left behind";
        for (const pid_t p : processes) kill(p, SIGKILL);
        if (!status) kill(mpirun, SIGKILL);
        EXPECT_FALSE(std::filesystem::exists(stem_ + ".run")) << "results of a job that failed";
        EXPECT_FALSE(std::filesystem::exists(stem_ + ".run.part")) << "half a file";
        return {WIFEXITED(status.value_or(0)) ? WEXITSTATUS(status.value_or(0)) : -1, text_of(stem_ + ".err")};
    }

    // A job that would go on for minutes.
    [[nodiscard]] std::vector<std::string> long_job(const json& plan = {{"dp", 2}, {"pp", 2}, {"global_batch", 16}}) const {
        write_scenario({{"transformer", {{"layers", 4}, {"hidden", 64}, {"heads", 4}, {"vocab", 256}, {"seq_len", 64}}}}, plan);
        return {executor_program(), stem_ + ".json", "--steps", "100000", "--parameters", "--out", stem_ + ".run"};
    }
    static void sleep_up_to(std::mt19937& draw, std::chrono::milliseconds most) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(0, most.count())(draw)));
    }

private:
    [[nodiscard]] pid_t start(const std::vector<std::string>& words) const {
        std::vector<char*> pointers;
        for (const std::string& w : words) pointers.push_back(const_cast<char*>(w.c_str()));
        pointers.push_back(nullptr);
        const std::string out = stem_ + ".out", err = stem_ + ".err";
        const pid_t child = fork();
        if (child != 0) return child;
        constexpr int write_anew = O_WRONLY | O_CREAT | O_TRUNC;
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(open(out.c_str(), write_anew, 0600), 1);
        dup2(open(err.c_str(), write_anew, 0600), 2);
        execvp(pointers[0], pointers.data());
        _exit(127);
    }
};

// From the first instruction on; mpirun ends the rest, and says 128 + 9.
TEST_F(ExecutorFailures, EndsAllWhenARankIsKilled) {
    const unsigned seed = std::random_device{}();
    std::mt19937 draw(seed);
    for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", try " + std::to_string(i));
        const std::size_t victim = draw() % 4;
        bool lived = false;
        const Outcome o = run(long_job(), 4, [&](const std::vector<pid_t>& ranks) {
            sleep_up_to(draw, 2500ms);
            lived = std::ranges::all_of(ranks, gives_signs_of_life);
            if (lived) std::this_thread::sleep_for(1s);  // and one was heard
            kill(ranks.at(victim), SIGKILL);
        });
        EXPECT_EQ(o.exit_code, 128 + SIGKILL);
        EXPECT_THAT(o.err, HasSubstr("signal 9")) << "mpirun says who";
        if (lived) {
            EXPECT_THAT(o.err, AllOf(HasSubstr("is gone: it was killed"), HasSubstr("(last known at ")));
        }
    }
}

TEST_F(ExecutorFailures, EndsAllWhenARankHangs) {
    const unsigned seed = std::random_device{}();
    std::mt19937 draw(seed);
    const json in_stages{{"dp", 2}, {"pp", 2}, {"global_batch", 16}};
    const json with_server{{"dp", 3}, {"global_batch", 12}, {"data_parallel", "parameter_server"}};
    for (const json& plan : {in_stages, with_server}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + plan.dump());
        const std::size_t victim = draw() % 4;
        const Outcome o = run(long_job(plan), 4, [&](const std::vector<pid_t>& ranks) {
            while (!std::ranges::all_of(ranks, gives_signs_of_life)) std::this_thread::sleep_for(5ms);
            sleep_up_to(draw, 1500ms);
            kill(ranks.at(victim), SIGSTOP);
        });
        EXPECT_EQ(o.exit_code, 3);
        EXPECT_THAT(o.err, AllOf(HasSubstr("has given no sign of life for 5 s"), HasSubstr("sextant-exec-cpu: rank ")));
    }
}

TEST_F(ExecutorFailures, EndsAllWhenARankCrashes) {
    const Outcome o = run(long_job(), 4, [](const std::vector<pid_t>& ranks) {
        while (!std::ranges::all_of(ranks, gives_signs_of_life)) std::this_thread::sleep_for(5ms);
        std::this_thread::sleep_for(1s);
        kill(ranks.at(2), SIGSEGV);
    });
    EXPECT_EQ(o.exit_code, 3);
    EXPECT_THAT(o.err, AllOf(HasSubstr("sextant-exec-cpu: rank "), HasSubstr(": at "), HasSubstr("crashed: Segmentation fault")));
}

// 16384 samples of nine layers of 1024: 64 MiB each for what goes in and what comes out, and no limit is that high.
TEST_F(ExecutorFailures, EndsAllWhenARankRunsOutOfMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer takes all address space there is";
#endif
    write_scenario({{"mlp", {{"widths", {1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 10}}}}},
                   {{"dp", 2}, {"micro_batch", 16384}, {"global_batch", 32768}});
    const unsigned seed = std::random_device{}();
    std::mt19937 draw(seed);
    for (int i = 0; i < 3; ++i) {
        const int mib = std::uniform_int_distribution(400, 1000)(draw);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", limit of " + std::to_string(mib) + " MiB");
        const std::string limited = "[ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && ulimit -v " + std::to_string(mib * 1024) + "; exec \"$0\" \"$@\"";
        const Outcome o =
            run({"sh", "-c", limited, executor_program(), stem_ + ".json", "--out", stem_ + ".run"}, 2, [](const std::vector<pid_t>&) {});
        EXPECT_EQ(o.exit_code, 3);
        EXPECT_THAT(o.err, AllOf(HasSubstr("sextant-exec-cpu: rank 1 on "), HasSubstr(": at "), HasSubstr("out of memory")));
    }
}

// The stack of each thread takes 1 GB of the address space; MPI has two, then come those that give signs of life, then the one that
// communicates.
TEST_F(ExecutorFailures, SaysThatNoThreadCouldBeStarted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer takes all address space there is";
#endif
    write_scenario(perceptron(), {{"dp", 2}});
    int said = 0;
    for (int stacks = 3; stacks <= 6; ++stacks) {
        const std::string limited = "ulimit -s 1000000; ulimit -v " + std::to_string(stacks * 1'000'000) + "; exec \"$0\" \"$@\"";
        const ProcessResult r =
            run_program(SEXTANT_MPIRUN, {"--timeout", "100", "-n", "2", "sh", "-c", limited, executor_program(), stem_ + ".json"});
        EXPECT_THAT(r.err, Not(HasSubstr("terminate called"))) << stacks;
        if (r.err.find("no thread could be started") == std::string::npos) continue;
        EXPECT_EQ(r.exit_code, 3) << stacks;
        ++said;
    }
    EXPECT_GT(said, 0);
}

// Each of its segments takes longer than the time after which silence is death.
TEST_F(ExecutorFailures, TellsSlowFromDead) {
    write_scenario({{"mlp", {{"widths", {2048, 2048, 2048, 10}}}}},
                   {{"dp", 2}, {"micro_batch", 12288}, {"global_batch", 24576}, {"gradient_overlap", false}});
    const pid_t job = fork();
    if (job == 0) {
        execlp(SEXTANT_MPIRUN, SEXTANT_MPIRUN, "-n", "2", executor_program().c_str(), (stem_ + ".json").c_str(), "--steps", "1",
               "--threads", "1", "--hang-timeout", "1", "--out", (stem_ + ".run").c_str(), nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(job, &status, 0);
    EXPECT_EQ(status, 0);
    const json spans = json::parse(std::ifstream(stem_ + ".run"))["trace"]["spans"];
    double longest = 0;
    for (std::size_t i = 0; i < spans["start_s"].size(); ++i)
        if (spans["kind"][i] == "backward")
            longest = std::max(longest, spans["end_s"][i].get<double>() - spans["start_s"][i].get<double>());
    EXPECT_GT(longest, 1) << "nothing was slow";
}

// A million samples of 8192 numbers are 33 GB, in each of nine layers.
TEST_F(ExecutorFailures, RefusesWhatDoesNotFitBeforeItStarts) {
    write_scenario({{"mlp", {{"widths", {8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 10}}}}},
                   {{"dp", 2}, {"micro_batch", 1'000'000}, {"global_batch", 2'000'000}});
    const Outcome o = run({executor_program(), stem_ + ".json", "--out", stem_ + ".run"}, 2, [](const std::vector<pid_t>&) {});
    EXPECT_EQ(o.exit_code, 4);
    EXPECT_THAT(o.err, AllOf(HasSubstr("the plan does not fit in memory"), HasSubstr("what would help")));
}

}  // namespace
}  // namespace sextant
