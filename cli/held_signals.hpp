// Holds back Ctrl-C and other requests to end while there is something to put away first: a child that runs, or a temporary folder.
#pragma once

#include <sys/types.h>

namespace sextant {

// Thrown where the work is given up. main() ends the process by the signal, when everything is put away.
struct Interrupted {
    int signal;
};

// While one lives, SIGINT, SIGTERM and SIGHUP only go on to the child, which a third of them kills. With the last one they end the process
// as usual, also one that came before and was not thrown. SIGHUP that is ignored (nohup) stays so.
class HeldSignals {
public:
    HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    ~HeldSignals();

    // As the system's, with no signal lost between a child and its parent; in the child they do what they did before. Throws Interrupted
    // when one has come.
    [[nodiscard]] pid_t fork();
    // Throws likewise.
    void child_has_ended();
};

}  // namespace sextant
