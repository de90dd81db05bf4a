// What a profiler of another framework saw of a job: one of its ranks, step by step.
#pragma once

#include "model/graph/trace.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

struct ProfilerRecord {
    std::string file;
    int rank = 0;
    std::optional<int> ranks;    // of the job, where the profile says
    std::string device;          // as its driver calls it: "NVIDIA A100-SXM4-80GB"
    std::vector<Seconds> steps;  // whole ones, in order
    int traced_step = 0;         // the one of which `trace` is: of median time
    Trace trace;                 // of this rank alone
};

}  // namespace sextant
