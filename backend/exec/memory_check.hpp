// Whether the ranks fit into the memory of their hosts. Checked before anything is allocated.
#pragma once

#include "model/base/quantity.hpp"
#include "model/plan/scenario.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sextant {

// The memory that the system would still give: MemAvailable, or what the limits of control groups (version 1 or 2) leave where that is
// less. Their page cache counts as free. Unlimited where the system does not say. `root`: the folder of /proc and /sys.
Bytes available_memory(const std::filesystem::path& root = "/");

// The peak of each rank's arrays, by rank of the job, with parameter servers behind the workers. What the scenario's framework would take
// beside arrays does not count, because it does not run here.
std::vector<Bytes> predicted_peaks(const Scenario&);

// The peak of what a rank offloads to the memory of its host; 0 where the plan offloads nothing.
Bytes predicted_offload(const Scenario&);

struct RankNeed {
    std::string host;
    Bytes available;  // on the host, as this rank finds it
    Bytes needed;
    bool offloaded = false;  // what the plan keeps there, and not what the rank works on
};

// Why the ranks do not fit, and what would help. Empty where they fit.
std::string memory_refusal(const Scenario&, std::span<const RankNeed>);

}  // namespace sextant
