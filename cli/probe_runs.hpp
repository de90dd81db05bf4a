// The small jobs of a calibration, run for real on this machine.
#pragma once

#include "cli/probed_machine.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

struct ProbeSeries {
    ProbedMachine machine;
    std::filesystem::path folder;  // of the records; those that are there already count
    std::string profiles;          // directory of hardware profiles
    int passes = 3, steps = 12;    // passes that are run, beside those that are there
};

// All probes one after the other, and all of them again: what changes while they run spreads over all. Calls `progress` after each. Throws
// BackendError where one does not run, InputError where the folder has runs of other probes of these names.
std::vector<ProbeRun> run_probes(Library&, const ProbeSeries&, const std::function<void(std::size_t done)>& progress);

}  // namespace sextant
