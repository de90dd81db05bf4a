// What the targets that read models of other programs share.
#pragma once

#include "model/workload/workload.hpp"

namespace sextant::fuzz {

// What was accepted is written, and read back the same; ends the program where it is not.
void check_written(const Workload&);

}  // namespace sextant::fuzz
