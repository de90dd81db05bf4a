#include "backend/rank/heartbeat.hpp"

#include "backend/storage/clock.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <pthread.h>
#include <unistd.h>

namespace sextant {
namespace {

constexpr int beats_in_timeout = 10;
constexpr int sending = 0, receiving = 1;  // indices of requests_
constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// Wakes the thread that watches: 0 to see whether it is to end, else the signal of a crash.
int wake_signal() { return SIGRTMIN; }

sigset_t awaited_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, wake_signal());
    return set;
}

void wake(int value) {
    sigval v{};
    v.sival_int = value;
    sigqueue(getpid(), wake_signal(), v);
}

// In the thread that crashed, which may hold any lock: the other one says so, and ends the process.
void crashed(int signal) {
    wake(signal);
    const timespec enough{1, 0};
    nanosleep(&enough, nullptr);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

void Heartbeat::hold_signals() {
    const sigset_t set = awaited_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Heartbeat::Heartbeat(const MpiWorld& world, Seconds timeout, const RankActivity& activity)
    : world_(world),
      timeout_(timeout),
      activity_(activity),
      before_((world.rank() + world.size() - 1) % world.size()),
      after_((world.rank() + 1) % world.size()),
      heard_(now()) {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &ring_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(ring_, MPI_ERRORS_RETURN);
    world.host().copy(mine_.host, sizeof mine_.host - 1);
    mine_.process = getpid();
    for (const int signal : fatal_signals) std::signal(signal, crashed);
    watching_ = std::jthread([this](const std::stop_token& ends) { watch(ends); });
    // Last, as MPI writes to this object from then on.
    beating_ = std::jthread([this](const std::stop_token& ends) {
        pthread_setname_np(pthread_self(), "heartbeat");
        try {
            beat(ends);
        } catch (const std::exception& e) {
            world_.abort(std::string("while it gives signs of life: ") + e.what(), ExitCode::machine_refused);
        }
    });
}

Heartbeat::~Heartbeat() {
    for (std::jthread* thread : {&beating_, &watching_}) {
        thread->request_stop();
        thread->join();
    }
    for (const int signal : fatal_signals) std::signal(signal, SIG_DFL);
    if (requests_[receiving] != MPI_REQUEST_NULL) MPI_Cancel(&requests_[receiving]);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);  // a beat is sent without a receiver
    MPI_Comm_free(&ring_);
}

void Heartbeat::beat(const std::stop_token& ends) {
    if (world_.size() == 1) return;
    const auto pause = to_chrono(timeout_ / double{beats_in_timeout});
    Seconds awake = now();
    receive();
    while (!ends.stop_requested()) {
        send();
        // A process that stood still with all its threads has not heard what was said.
        if (now() - awake > timeout_ / 2.0) heard_ = now();
        listen();
        awake = now();
        std::unique_lock lock(mutex_);
        ending_.wait_for(lock, ends, pause, [] { return false; });
    }
}

void Heartbeat::watch(const std::stop_token& ends) {
    // A fault sent from outside is to meet a thread that can be spoken for.
    sigset_t faults;
    sigemptyset(&faults);
    for (const int signal : fatal_signals) sigaddset(&faults, signal);
    pthread_sigmask(SIG_BLOCK, &faults, nullptr);
    const sigset_t signals = awaited_signals();
    const std::stop_callback looks_up(ends, [] { wake(0); });
    while (!ends.stop_requested()) {
        siginfo_t info{};
        const int signal = sigwaitinfo(&signals, &info);
        if (signal == SIGTERM) told_to_end();
        if (signal == wake_signal() && info.si_value.sival_int != 0) crashed_by(info.si_value.sival_int);
    }
}

void Heartbeat::send() {
    int done = 0;
    check_mpi(MPI_Test(&requests_[sending], &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return;
    std::memset(mine_.at, 0, sizeof mine_.at);
    activity_.text().copy(mine_.at, sizeof mine_.at - 1);
    check_mpi(MPI_Isend(&mine_, sizeof mine_, MPI_BYTE, after_, 0, ring_, &requests_[sending]), "MPI_Isend");
}

void Heartbeat::receive() {
    check_mpi(MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, before_, 0, ring_, &requests_[receiving]), "MPI_Irecv");
}

void Heartbeat::listen() {
    while (true) {
        int done = 0;
        check_mpi(MPI_Test(&requests_[receiving], &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) break;
        {
            const std::lock_guard lock(mutex_);
            last_ = incoming_;
        }
        heard_ = now();
        receive();
    }
    if (now() - heard_ < timeout_) return;
    world_.abort("at " + activity_.text() + ": " + before_text() + " has given no sign of life for " +
                     std::to_string(static_cast<int>((now() - heard_).si())) + " s: it hangs, or its host or network is gone",
                 ExitCode::machine_refused);
}

std::string Heartbeat::before_text() {
    const std::lock_guard lock(mutex_);
    const std::string who = "rank " + std::to_string(before_);
    return last_ ? who + " on " + last_->host + " (last known at " + last_->at + ")" : who + " (never heard of)";
}

// Of another host's processes nothing can be known here.
bool Heartbeat::before_is_gone() {
    const std::lock_guard lock(mutex_);
    return last_ && world_.host() == last_->host && kill(last_->process, 0) != 0 && errno == ESRCH;
}

void Heartbeat::told_to_end() {
    if (before_is_gone()) world_.say(before_text() + " is gone: it was killed (by hand, or by the kernel when memory ran out) or has left");
    const timespec until_all_have_looked{0, 200'000'000};
    nanosleep(&until_all_have_looked, nullptr);
    _exit(128 + SIGTERM);
}

void Heartbeat::crashed_by(int signal) {
    world_.say("at " + activity_.text() + ": crashed: " + strsignal(signal));
    _exit(static_cast<int>(ExitCode::machine_refused));
}

}  // namespace sextant
