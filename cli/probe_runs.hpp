// Runs the small jobs (probes) of a calibration, on this machine or on several hosts.
#pragma once

#include "cli/probed_machine.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

struct ProbeSeries {
    ProbedMachine machine;
    std::filesystem::path folder;  // for the records; records that are there already are used too
    std::string profiles;          // directory of hardware profiles
    int passes = 3, steps = 12;    // passes to run, beside those already recorded, and steps of each job
};

enum class ProbesOf { this_machine, network };

// Each pass runs all probes one after the other, so that a change of the machine's speed affects all of them alike. Calls `progress` after
// each run. Throws BackendError where a probe does not run, InputError where the folder has records of other probes with these names.
std::vector<ProbeRun> run_probes(Library&, const ProbeSeries&, ProbesOf, const std::function<void()>& progress);

}  // namespace sextant
