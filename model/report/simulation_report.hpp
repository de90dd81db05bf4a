// Everything that a simulation tells: the report in the terms of predict, and what only a timeline can say.
#pragma once

#include "model/graph/trace.hpp"
#include "model/report/critical_path.hpp"
#include "model/report/memory_timeline.hpp"
#include "model/report/report.hpp"
#include "model/simulate/simulate.hpp"

#include <vector>

namespace sextant {

struct SimulationReport {
    Report report;           // its estimate holds the step, terms and peaks of the trace
    Seconds predicted_step;  // of the closed form, to compare
    Trace trace;
    std::vector<UtilizationSeries> devices, links;
    CriticalPath critical_path;
    std::vector<MemoryTimeline> memory;
    Jitter jitter;
    std::uint64_t events = 0;
};

}  // namespace sextant
