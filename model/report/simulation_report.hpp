// Everything that a simulation tells: the report in the terms of predict, and what only a timeline can say.
#pragma once

#include "model/graph/trace.hpp"
#include "model/report/condition.hpp"
#include "model/report/critical_path.hpp"
#include "model/report/memory_timeline.hpp"
#include "model/report/report.hpp"
#include "model/report/staleness.hpp"
#include "model/simulate/simulate.hpp"

#include <optional>
#include <vector>

namespace sextant {

struct SimulationReport {
    Report report;           // its estimate holds the step, terms and peaks of the trace
    Seconds predicted_step;  // of the closed form, to compare
    int steps = 1;           // that the trace covers; the report's times are of one
    TaskGraph graph;         // that was played: what each segment is, and what it waits for
    Trace trace;
    std::vector<UtilizationSeries> devices, links;
    CriticalPath critical_path;
    std::vector<MemoryTimeline> memory;
    std::optional<Staleness> staleness;  // of an asynchronous parameter server
    Jitter jitter;
    std::uint64_t events = 0;
};

// Those of its report, and what a timeline alone has; of this job before it is played: names and units.
std::vector<NamedQuantity> named_quantities(const SimulationReport&);
std::vector<NamedQuantity> simulated_quantities(const Prepared&);

// What a trace of so many steps takes for one of them: until the last rank has ended it. Workers that wait for nobody do theirs together at
// the rate at which all of them end.
Seconds step_time(const Trace&, int steps, bool asynchronous);

// `graph` was lowered from the scenario of the job, priced by `table` and played with `jitter`.
SimulationReport make_simulation_report(const Prepared&, TaskGraph, const CostTable&, Simulation, const Jitter&);

}  // namespace sextant
