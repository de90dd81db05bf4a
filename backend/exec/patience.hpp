// How long a thread rests before it asks again whether something has come.
#pragma once

#include "model/base/quantity.hpp"

#include <algorithm>

namespace sextant {

// To wake up by a timer takes a core some microseconds, of a virtual machine 50. So the longer nothing has come, the longer a rest is: what
// comes then is late by a quarter of the time that it took at most.
class Patience {
public:
    void begin(Seconds now) { since_ = now; }  // of waiting for what comes next
    [[nodiscard]] Seconds rest(Seconds now, Seconds least) const { return max(least, 0.25 * (now - since_)); }

private:
    Seconds since_;
};

}  // namespace sextant
