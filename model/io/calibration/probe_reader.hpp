// The small jobs of a calibration (schema probes/1), as scenarios for one machine.
#pragma once

#include "model/io/format/json_reader.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

struct Probe {
    std::string name;
    bool quick = false;              // enough for a first answer
    std::string precision = "fp32";  // in which it multiplies
    std::string framework = "sextant";
    int cut = 1;                 // ranks that one copy of the model needs
    int ranks_per_device = 1;    // that share its core
    std::string workload, plan;  // as a scenario has them, JSON
};

// Throws InputError with everything that is wrong. The scenarios in it are left as JSON, for the reader of scenarios.
std::vector<Probe> load_probes(const std::filesystem::path&);

// A scenario that runs the probe on all devices of so many hosts of the profile at `cluster`; absent: of the only one that it has.
std::string probe_to_scenario(const Probe&, const std::filesystem::path& cluster, std::optional<int> hosts = std::nullopt);

}  // namespace sextant
