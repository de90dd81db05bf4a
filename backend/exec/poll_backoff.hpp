// How long a thread sleeps before it polls again.
#pragma once

#include "model/base/quantity.hpp"

namespace sextant {

// Waking up by a timer costs some microseconds of a core, 50 on a virtual machine. So the longer a thread has waited in vain, the longer it
// sleeps: for a quarter of the time that it has waited. What it waits for is then noticed late by a quarter of that time at most.
class PollBackoff {
public:
    // Something has come: the wait for the next thing begins.
    void begin(Seconds now) { since_ = now; }
    // How long to sleep at this time, `least` at the least.
    [[nodiscard]] Seconds rest(Seconds now, Seconds least) const { return max(least, part_of_wait * (now - since_)); }

private:
    static constexpr double part_of_wait = 0.25;
    Seconds since_;
};

}  // namespace sextant
