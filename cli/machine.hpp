// What this machine says of itself.
#pragma once

#include "model/sextant.hpp"

namespace sextant {

MachineFacts facts_of_this_machine();

std::string today();  // "2026-11-21"

}  // namespace sextant
