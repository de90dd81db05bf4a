// Signs of life. The ranks form a ring. A thread of every rank tells the next rank what its own is doing, several times within the time
// after which silence counts as death, and listens to the rank before it. It sends regardless of the other threads, which tells slow from
// dead: a rank that was stopped, or whose host is gone, sends nothing. A rank whose predecessor falls silent says so and ends the job.
//
// A second thread never calls MPI, so that it can report what others no longer can: that this process is told to end, because another one
// died and the launcher ends the rest, or that it crashed, whatever locks the crashed thread may hold.
#pragma once

#include "backend/exec/rank_activity.hpp"
#include "backend/rank/mpi_world.hpp"

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace sextant {

class Heartbeat {
public:
    // To be called before any thread is started: it blocks the signals for which one of the threads here waits.
    static void hold_signals();

    // A collective call of all ranks. Throws std::system_error where no thread can be started.
    Heartbeat(const MpiWorld&, Seconds timeout, const RankActivity&);
    Heartbeat(const Heartbeat&) = delete;
    Heartbeat& operator=(const Heartbeat&) = delete;
    // To be destroyed when all ranks are done (MpiWorld::barrier), because nobody listens afterwards.
    ~Heartbeat();

private:
    struct Beat {  // as it is sent; longer strings are cut
        char host[64];
        char at[184];
        int process;
    };

    void beat(const std::stop_token& ends);
    void watch(const std::stop_token& ends);
    void send();
    void receive();
    void listen();
    [[noreturn]] void told_to_end();
    [[noreturn]] void crashed_by(int signal);
    [[nodiscard]] bool before_is_gone();
    [[nodiscard]] std::string before_text();

    const MpiWorld& world_;
    const Seconds timeout_;
    const RankActivity& activity_;
    MPI_Comm ring_ = MPI_COMM_NULL;
    int before_ = 0, after_ = 0;
    Beat mine_{}, incoming_{};
    std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    Seconds heard_;
    std::mutex mutex_;
    std::condition_variable_any ending_;
    std::optional<Beat> last_;  // of the rank before
    std::jthread watching_, beating_;
};

}  // namespace sextant
