// What this machine says of itself.
#pragma once

#include "model/sextant.hpp"

namespace sextant {

MachineFacts facts_of_this_machine();

std::string today();  // "2026-11-21"

// Time that cores of this machine were at work, or taken away by a host that others share: all of it, and that of children that have ended.
struct CoreTime {
    Seconds all, ours;
};
CoreTime core_time();

}  // namespace sextant
