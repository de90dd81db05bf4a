#include "model/report/simulation_report.hpp"

#include "model/predict/fragmentation.hpp"
#include "model/predict/state.hpp"
#include "model/report/trace_terms.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

// What is held all the time; what comes and goes is in the curve of the simulation.
std::vector<StageMemory> always_held(std::vector<StageMemory> stages) {
    for (StageMemory& s : stages)
        for (const MemoryKind k : {MemoryKind::activations, MemoryKind::logits, MemoryKind::gathered_weights, MemoryKind::fragmentation})
            s[k] = Bytes{};
    return stages;
}

// The estimate of the closed form, with everything that the trace tells in its place.
Estimate with_trace(Estimate e, const Trace& trace, int steps, const std::vector<MemoryTimeline>& memory) {
    const GraphRank last = last_rank(trace);
    e.step = trace.end / steps;
    e.terms = per_step(terms_of(trace, last), steps);
    e.overlapped = per_step(overlapped_of(trace, last), steps);
    e.last_stage = trace.ranks[last].stage;
    const auto slowest = std::ranges::find_if(trace.ranks, [&](const TraceRank& r) { return !r.server && r.stage == e.slowest_stage; });
    e.slowest = per_step(terms_of(trace, static_cast<GraphRank>(slowest - trace.ranks.begin())), steps);
    e.peak_memory = {};
    for (std::size_t s = 0; s < memory.size(); ++s) {
        const MemoryTimeline& m = memory[s];
        e.peak_memory = max(e.peak_memory, m.peak());
        // The curve has what comes and goes in one: the parts of the closed form are scaled to its highest point.
        StageMemory& parts = e.memory[s];
        const MemoryKind passing[] = {MemoryKind::activations, MemoryKind::logits, MemoryKind::gathered_weights};
        Bytes sum;
        for (const MemoryKind k : passing) sum += parts[k];
        for (const MemoryKind k : passing) parts[k] = sum > Bytes{} ? parts[k] / sum * m.highest : Bytes{};
        if (!(sum > Bytes{})) parts[MemoryKind::activations] = m.highest;
        parts[MemoryKind::fragmentation] = m.base[MemoryKind::fragmentation];
    }
    return e;
}

}  // namespace

SimulationReport make_simulation_report(const Prepared& job, TaskGraph graph, const CostTable& table, Simulation simulation,
                                        const Jitter& jitter) {
    const Estimate predicted = estimate(job);
    SimulationReport r;
    r.steps = graph.steps();
    r.trace = std::move(simulation.trace);
    r.devices = std::move(simulation.devices);
    r.links = std::move(simulation.links);
    r.events = simulation.events;
    r.jitter = jitter;
    r.predicted_step = predicted.step;
    r.memory = memory_timelines(r.trace, graph.segments(), table, always_held(predicted.memory));
    for (MemoryTimeline& m : r.memory)
        m.base[MemoryKind::fragmentation] = fragmentation(job.scenario().framework, m.highest, m.base.total(), predicted.device_memory);
    r.critical_path = critical_path(r.trace);
    if (job.scenario().plan.data_parallel == DataParallel::async_parameter_server) r.staleness = staleness_of(graph, r.trace);
    r.graph = std::move(graph);
    r.report = make_report(job, with_trace(predicted, r.trace, r.steps, r.memory));
    return r;
}

}  // namespace sextant
