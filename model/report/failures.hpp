// How failures lengthen a run that saves its state from time to time: Daly, "A higher order estimate of the optimum checkpoint interval for
// restart dumps", Future Generation Computer Systems 22(3), 2006. docs/model/report.md has the formulas.
#pragma once

#include "model/base/quantity.hpp"

#include <optional>

namespace sextant {

struct FailingJob {
    Seconds between;  // mean time between failures of any part of it
    Seconds restart;  // from a failure until it goes on from the state that was saved last
};

// How many times as long work takes that is repeated from the last saved state after each failure. With segments w, mean time between
// failures M and restart time R, for failures at a constant rate that strike restarts too: M e^(R/M) (e^(w/M) - 1) / w, to first order 1 +
// (R + w/2) / M. Neglects that failures come in bursts, and that a job may go on with fewer devices.
double times_as_long(Seconds segment, const FailingJob&);

// The work between two checkpoints, each of which takes `saving`, that makes the whole run shortest (Daly's perturbation solution of that
// formula, whose first term is Young's sqrt(2 saving between); Communications of the ACM 17(9), 1974).
Seconds best_checkpoint_interval(Seconds saving, Seconds between);

struct BestCheckpoints {
    double steps = 1;  // from one to the next
    Seconds interval;
    double goodput = 1;
};

struct FailureEstimate {
    FailingJob job;
    double expected = 0;                  // failures in the whole run
    std::optional<BestCheckpoints> best;  // where it saves any
};

}  // namespace sextant
