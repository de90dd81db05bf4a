// Which scenarios an executor runs, and why it cannot run the others. Checked before anything starts.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/plan/scenario.hpp"

#include <vector>

namespace sextant {

// What only some engines can do.
struct Abilities {
    bool captures = false;  // captures launches of kernels as graphs
    bool offloads = false;  // offloads to the memory of its host, which is not its own
};

// All reasons why the scenario does not run, with pointers into it. Empty where it runs. check_plan must have accepted the plan.
std::vector<Diagnostic> unsupported(const Scenario&, const Abilities& = {});

}  // namespace sextant
