// Ctrl-C as a question that long work asks now and then, so that it can print what it has.
#pragma once

namespace sextant {

// While one lives, the first Ctrl-C is kept for came(); a second one ends the process as usual. Threads started meanwhile do not see it.
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
