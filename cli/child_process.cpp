#include "cli/child_process.hpp"

#include "cli/held_signals.hpp"
#include "model/base/diagnostics.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant {
namespace {

BackendError refused(const std::string& what) { return BackendError(what + ": " + std::strerror(errno)); }

// Closed again on exec, so that a pipe ends when its writer does.
std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw refused("pipe");
    return ends;
}

[[noreturn]] void become(const std::vector<std::string>& words, int out, ChildStderr errors, int failure) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // A group of its own: what a terminal sends to ours reaches it once, through us.
    ::setpgid(0, 0);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    if (errors == ChildStderr::heard) ::dup2(out, STDERR_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure, &why, sizeof why);
    ::_exit(127);
}

void hear_lines(int from, const std::function<void(const std::string&)>& hear) {
    std::string line;
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t count = ::read(from, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        for (ssize_t i = 0; i < count; ++i) {
            const char c = buffer[static_cast<std::size_t>(i)];
            if (c != '\n') {
                line += c;
                continue;
            }
            hear(line);
            line.clear();
        }
    }
    if (!line.empty()) hear(line);
}

// An mpirun that was told twice to end leaves ranks behind, which end soon after it and until then write into folders that its caller is
// about to remove. They are our children now. What is still there after a while is a service (ssh keeps connections so), and stays.
void wait_for_orphans() {
    using std::chrono::steady_clock, std::chrono::milliseconds;
    const steady_clock::time_point deadline = steady_clock::now() + std::chrono::seconds(3);
    for (;;) {
        const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
        if (ended < 0 && errno != EINTR) return;  // there is none
        if (ended > 0) continue;
        if (steady_clock::now() > deadline) return;
        std::this_thread::sleep_for(milliseconds(5));
    }
}

}  // namespace

int run_child(const std::vector<std::string>& words, const std::function<void(const std::string&)>& hear, ChildStderr errors) {
    HeldSignals signals;
    std::signal(SIGCHLD, SIG_DFL);       // where whoever started us ignores it, we do too, and a child would leave no status
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that orphans of the child become children of ours
    const std::array out = make_pipe(), failure = make_pipe();
    const pid_t child = signals.fork();
    if (child < 0) throw refused("fork");
    if (child == 0) become(words, out[1], errors, failure[1]);
    ::close(out[1]);
    ::close(failure[1]);
    int why = 0;
    const bool started = ::read(failure[0], &why, sizeof why) <= 0;
    ::close(failure[0]);
    if (started) hear_lines(out[0], hear);
    ::close(out[0]);
    int status = 0;
    pid_t ended = 0;
    do ended = ::waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    const int not_waited = ended < 0 ? errno : 0;
    signals.child_has_ended();
    if (status != 0) wait_for_orphans();
    signals.throw_if_any_came();
    if (not_waited != 0) throw BackendError(words[0] + " ended, nobody knows how: " + std::strerror(not_waited));
    const char* const from = words[0] == "mpirun" && why == ENOENT ? ": it comes with Open MPI (Debian: openmpi-bin)" : "";
    if (!started) throw BackendError(words[0] + " cannot be started: " + std::strerror(why) + from);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::filesystem::path program_beside(const std::string& name, const std::string& needs) {
    std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
    if (std::filesystem::exists(program)) return program;
    throw BackendError(program.string() + " is not there: sextant was built without what it needs (" + needs + ")");
}

}  // namespace sextant
