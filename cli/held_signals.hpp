// Holds back Ctrl-C and other requests to end while there is something to clean up first: a running child, or a temporary folder.
#pragma once

#include <sys/types.h>

namespace sextant {

// Thrown where a signal stops the work. When everything is cleaned up, main() ends the process by the same signal.
struct Interrupted {
    int signal;
};

// While an object exists, SIGINT, SIGTERM and SIGHUP are only forwarded to the child; a third signal kills it. When the last object is
// destroyed, the signals end the process again, including one that arrived before and was not thrown. An ignored SIGHUP (nohup) stays
// ignored.
class HeldSignals {
public:
    HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    ~HeldSignals();

    // Like fork() of the system, but no signal is lost between the parent and the child, in which signals have their usual effect. Throws
    // Interrupted when a signal has arrived.
    [[nodiscard]] pid_t fork();
    // Call it as soon as the child was waited for: its number may be another process's from then on, and signals are no longer forwarded.
    void child_has_ended();
    // Throws Interrupted when a signal has arrived.
    void throw_if_any_came();
};

}  // namespace sextant
