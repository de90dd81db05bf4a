// Everything that a simulation tells: the report in the terms of the closed form, and what only a timeline can say.
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
    Seconds predicted_step;  // by the closed form, to compare with
    int steps = 1;           // that the trace covers; the report's times are for one
    TaskGraph graph;         // that was played: what each segment is, and what it waits for
    Trace trace;
    std::vector<UtilizationSeries> devices, links;
    CriticalPath critical_path;
    std::vector<MemoryTimeline> memory;
    std::optional<Staleness> staleness;  // of an asynchronous parameter server
    Jitter jitter;
    std::uint64_t events = 0;
};

// The quantities of its report, and those that only a timeline has. And the names and units of these before the job is played.
std::vector<NamedQuantity> named_quantities(const SimulationReport&);
std::vector<NamedQuantity> simulated_quantities(const Prepared&);

// The time of one step in a trace of several: until the last rank has ended it. Asynchronous workers together do steps at the rate at which
// each of them ends its own.
Seconds step_time(const Trace&, int steps, bool asynchronous);

// `graph` was lowered from the scenario of the job, priced by `table` and played with `jitter`.
SimulationReport make_simulation_report(const Prepared&, TaskGraph, const CostTable&, Simulation, const Jitter&);

}  // namespace sextant
