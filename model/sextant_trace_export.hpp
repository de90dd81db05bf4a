// The facade of steps that leave as execution traces, for other simulators to play. What each node is: model/simulate/recorded_step.hpp.
#pragma once

#include "model/graph/execution_trace.hpp"
#include "model/sextant.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

// Both write down every rank of the job, priced as simulate prices it. `seed`: of the noise that the scenario describes. Throw InputError
// where there are parameter servers, which are no ranks, and where there would be more nodes than a file system is asked for in earnest.

ExecutionTrace execution_trace(const Prepared&, std::uint64_t seed = 1);

struct ExportedTrace {
    std::size_t ranks = 0, nodes = 0, groups = 0;
    std::vector<std::string> left_out;  // of what simulate plays
};
// PREFIX.0.et, PREFIX.1.et ..., PREFIX.groups.json and PREFIX.nodes.json: all or, where the disk refuses (BackendError), as they were
// before. Throws InputError also where a rank that the job does not have would stay there of another trace. `progress` is called after each
// rank.
ExportedTrace export_chakra(const Prepared&, const std::filesystem::path& prefix, std::uint64_t seed = 1,
                            const std::function<void(std::size_t done, std::size_t ranks)>& progress = {});

}  // namespace sextant
