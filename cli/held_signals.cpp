#include "cli/held_signals.hpp"

#include <array>
#include <csignal>
#include <utility>

#include <unistd.h>

namespace sextant {
namespace {

constexpr std::array held{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t child_id = 0, came = 0, times = 0;  // a signal handler knows nothing else
int holders = 0;
std::array<struct sigaction, held.size()> before;

void hold(int signal) {
    came = signal;
    times = times + 1;
    constexpr int most_passed_on = 2;  // mpirun ends in order at the first, at once at the second, and where it hangs at none
    if (child_id > 0) ::kill(static_cast<pid_t>(child_id), times > most_passed_on ? SIGKILL : signal);
}

void do_as_before() {
    for (std::size_t i = 0; i < held.size(); ++i) ::sigaction(held[i], &before[i], nullptr);
}

// None comes meanwhile.
class Blocked {
public:
    Blocked() {
        sigset_t all;
        ::sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, &mask_);
    }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;
    ~Blocked() { ::sigprocmask(SIG_SETMASK, &mask_, nullptr); }

private:
    sigset_t mask_{};
};

}  // namespace

HeldSignals::HeldSignals() {
    if (holders++ > 0) return;
    struct sigaction action {};
    action.sa_handler = hold;
    action.sa_flags = SA_RESTART;  // whoever reads or waits goes on: the child ends
    for (std::size_t i = 0; i < held.size(); ++i) {
        ::sigaction(held[i], nullptr, &before[i]);
        // nohup means it. Of SIGINT that is how shells start what runs in the background: who sends it there means that.
        const bool stays_ignored = held[i] == SIGHUP && before[i].sa_handler == SIG_IGN;
        if (!stays_ignored) ::sigaction(held[i], &action, nullptr);
    }
}

HeldSignals::~HeldSignals() {
    if (--holders > 0) return;
    do_as_before();
    if (const int signal = std::exchange(came, 0); signal != 0) ::raise(signal);
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): only while signals are held
pid_t HeldSignals::fork() {
    const Blocked none;
    throw_if_any_came();
    const pid_t child = ::fork();
    if (child == 0)
        do_as_before();
    else if (child > 0)
        child_id = child;
    return child;
}

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): as fork
void HeldSignals::child_has_ended() { child_id = 0; }

// NOLINTNEXTLINE(readability-convert-member-functions-to-static): as fork
void HeldSignals::throw_if_any_came() {
    times = 0;
    if (const int signal = std::exchange(came, 0); signal != 0) throw Interrupted{signal};
}

}  // namespace sextant
