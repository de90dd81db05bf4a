// Whether what the ranks will need fits into their hosts' memory: asked before anything is allocated.
#pragma once

#include "model/base/quantity.hpp"
#include "model/plan/scenario.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sextant {

// What the system would still give: MemAvailable, or what control groups (version 1 or 2) leave of their limits where that is less. Their
// page cache counts as free. Everything when the system does not say. `root`: where /proc and /sys lie.
Bytes available_memory(const std::filesystem::path& root = "/");

// What each rank's arrays take at their peak, by rank of the job, parameter servers behind the workers. What the scenario's framework takes
// beside arrays is not looked at: it does not run here.
std::vector<Bytes> predicted_peaks(const Scenario&);

// What a rank takes of its host's memory at its peak, where the plan offloads: nothing elsewhere.
Bytes predicted_offload(const Scenario&);

struct RankNeed {
    std::string host;
    Bytes available;  // on the host, as this rank finds it
    Bytes needed;
};

// Why it does not fit, with what would help. Empty: it fits.
std::string memory_refusal(const Scenario&, std::span<const RankNeed>);

}  // namespace sextant
