// The machine at hand before it is calibrated: what it says of itself, and the small jobs that suit it.
#pragma once

#include "model/io/calibration/probe_reader.hpp"
#include "model/sextant.hpp"

#include <string>
#include <vector>

namespace sextant {

struct ProbedMachine {
    std::string backend;  // "cpu", "cuda"
    MachineFacts facts;   // `processor`: what computes
    Cluster guess;
    std::vector<Probe> probes;
};

// Its cores. `quick`: no more probes than a first answer takes.
ProbedMachine probed_cores(Library&, bool quick);

// Its GPUs, as sextant-exec-cuda finds them. Throws BackendError where it finds none, or was not built.
ProbedMachine probed_gpus(Library&, bool quick);

}  // namespace sextant
