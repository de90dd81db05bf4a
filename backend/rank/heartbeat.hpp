// Signs of life. A thread of every rank tells the next rank in a ring where it is, several times in the time after which silence counts as
// death, and listens to the rank before. It sends whatever the other threads do, so that slow is told from dead: a rank that was stopped,
// or whose host is gone, sends nothing. Who finds the rank before it silent says so and ends the job.
//
// A second thread, which never calls MPI, speaks where others no longer can: when this process is told to end, because another died and the
// launcher ends the rest, and when it crashes, with whatever locks the thread that crashed may hold.
#pragma once

#include "backend/exec/whereabouts.hpp"
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
    // Before there is any other thread: the signals that one of its threads waits for must reach no other.
    static void hold_signals();

    // All ranks at the same time. Throws std::system_error where no thread can be started.
    Heartbeat(const MpiWorld&, Seconds patience, const Whereabouts&);
    Heartbeat(const Heartbeat&) = delete;
    Heartbeat& operator=(const Heartbeat&) = delete;
    // When all ranks have come to their end, see MpiWorld::barrier: nobody listens any more.
    ~Heartbeat();

private:
    struct Beat {  // as it travels; strings are cut
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
    const Seconds patience_;
    const Whereabouts& where_;
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
