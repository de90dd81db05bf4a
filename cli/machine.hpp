// Facts about this machine.
#pragma once

#include "model/sextant.hpp"

namespace sextant {

MachineFacts facts_of_this_machine();

std::string today();  // "2026-11-21"

// Time for which the cores that this process may use were busy, or taken away by the host of a virtual machine. `ours`: by children that
// have ended.
struct CoreTime {
    Seconds all, ours;
};
CoreTime core_time();

}  // namespace sextant
