// Lets long work check for Ctrl-C, so that it can print what it has found so far.
#pragma once

namespace sextant {

// While an object exists, came() reports the first Ctrl-C; a second one ends the process as usual. Threads started meanwhile do not get
// the signal.
class Interrupt {
public:
    Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    [[nodiscard]] bool came();

private:
    bool came_ = false;
};

}  // namespace sextant
