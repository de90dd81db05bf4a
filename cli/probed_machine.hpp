// This machine before its calibration: facts about it, a first guess of its profile, and the small jobs (probes) that suit it.
#pragma once

#include "model/io/calibration/probe_reader.hpp"
#include "model/sextant.hpp"

#include <string>
#include <vector>

namespace sextant {

struct ProbedMachine {
    std::string backend;  // "cpu", "cuda"
    MachineFacts facts;   // `processor`: the device that computes
    Cluster guess;
    std::vector<Probe> probes;
};

// For its cores. `quick`: only the probes that a first answer needs.
ProbedMachine probed_cores(Library&, bool quick);

// For its GPUs, as sextant-exec-cuda finds them. Throws BackendError where it finds none or was not built.
ProbedMachine probed_gpus(Library&, bool quick);

}  // namespace sextant
