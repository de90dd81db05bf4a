// Facts about this machine.
#pragma once

#include "model/sextant.hpp"

namespace sextant {

MachineFacts facts_of_this_machine();

std::string today();  // "2026-11-21"

// Time for which cores of this machine were busy, or taken away by the host of a virtual machine. `ours`: of children that have ended.
struct CoreTime {
    Seconds all, ours;
};
CoreTime core_time();

}  // namespace sextant
