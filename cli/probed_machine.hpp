// This machine, or hosts like it, before a calibration: facts, a first guess of the profile, and the small jobs (probes) that suit it.
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
    std::vector<Probe> probes;            // of this machine
    std::vector<Probe> network_probes{};  // of all hosts in `host_file` together; none: this machine alone is measured
    std::string host_file{};
};

// For its cores, and for the network between the hosts of a file that mpirun reads; empty: for its cores alone. `quick`: only the probes
// that a first answer needs. Throws InputError unless the file names two hosts or more.
ProbedMachine probed_cores(Library&, bool quick, const std::string& host_file);

// For its GPUs, as sextant-exec-cuda finds them. Throws BackendError where it finds none or was not built.
ProbedMachine probed_gpus(Library&, bool quick);

}  // namespace sextant
