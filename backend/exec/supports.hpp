// Which scenarios an executor runs, and why it cannot run the others: said before anything starts.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/plan/scenario.hpp"

#include <vector>

namespace sextant {

// What engines differ in.
struct Abilities {
    bool captures = false;  // launches of kernels, as graphs
    bool offloads = false;  // to the memory of its host, which is another than its own
};

// All reasons, with pointers into the scenario. Empty: it runs. The plan is one that check_plan accepts.
std::vector<Diagnostic> unsupported(const Scenario&, const Abilities& = {});

}  // namespace sextant
