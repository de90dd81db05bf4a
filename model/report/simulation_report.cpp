#include "model/report/simulation_report.hpp"

#include "model/predict/fragmentation.hpp"
#include "model/predict/gathered_weights.hpp"
#include "model/predict/state.hpp"
#include "model/report/trace_terms.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sextant {
namespace {

// What is held all the time, weights that wait for backward among it; what comes and goes is in the curve of the simulation.
std::vector<StageMemory> always_held(std::vector<StageMemory> stages, const Scenario& scenario) {
    for (StageMemory& s : stages) {
        for (const MemoryKind k : {MemoryKind::activations, MemoryKind::logits, MemoryKind::fragmentation}) s[k] = Bytes{};
        if (gives_back_weights(scenario.plan, scenario.framework)) s[MemoryKind::gathered_weights] = Bytes{};
    }
    return stages;
}

std::vector<Seconds> ends_of(const Trace& trace) {
    std::vector<Seconds> ends(trace.ranks.size());
    for (const Span& s : trace.spans) ends[s.rank] = max(ends[s.rank], s.end);
    return ends;
}

// How long the kernels of each rank run.
std::vector<Seconds> work_of(const Trace& trace) {
    std::vector<Seconds> work(trace.ranks.size());
    for (const Span& s : trace.spans)
        if (const Term t = term_of(s.kind); t == Term::forward || t == Term::backward || t == Term::recompute || t == Term::optimizer)
            work[s.rank] += s.end - s.start;
    return work;
}

// Whom `rank` waited for last, where that is a rank of its stage which ends when it does, and itself waits less; else `rank`. Of replicas
// whose groups lie unlike it is the slow one, as in the closed form: what the fast ones do meanwhile is wait.
GraphRank awaited_by(const Trace& trace, GraphRank rank) {
    const std::vector<Seconds> ends = ends_of(trace);
    std::optional<SpanIndex> at;
    for (SpanIndex i = 0; i < trace.spans.size(); ++i)
        if (trace.spans[i].rank == rank && trace.spans[i].end >= ends[rank]) at = i;
    if (!at) return rank;
    // A chain of causes is never longer than the trace, unless the trace contradicts itself.
    for (std::size_t steps = 0; trace.spans[*at].rank == rank && steps < trace.spans.size(); ++steps) at = trace.spans[*at].cause;
    const GraphRank other = trace.spans[*at].rank;
    const bool alike = !trace.ranks[other].server && trace.ranks[other].stage == trace.ranks[rank].stage && ends[other] >= ends[rank];
    return alike && terms_of(trace, other)[Term::straggler] < terms_of(trace, rank)[Term::straggler] ? other : rank;
}

// `rank`; where noise or slow devices give others of its stage less to do, one in the middle: the closed form's, which waits for the slow.
GraphRank usual_one(const Trace& trace, const Jitter& jitter, GraphRank rank) {
    if (jitter.noise == 0 && (jitter.slow_devices == 0 || jitter.slow_speed == 1)) return rank;
    const std::vector<Seconds> work = work_of(trace);
    std::vector<GraphRank> of_stage;
    for (GraphRank r = 0; r < work.size(); ++r)
        if (!trace.ranks[r].server && trace.ranks[r].stage == trace.ranks[rank].stage) of_stage.push_back(r);
    const auto middle = of_stage.begin() + (std::ssize(of_stage) - 1) / 2;
    std::ranges::nth_element(of_stage, middle, {}, [&](GraphRank r) { return work[r]; });
    return work[*middle] < work[rank] ? *middle : rank;
}

// Where the time of a worker goes that is not slow; what slow ones do not do meanwhile costs the job the rest.
void take_terms_of_the_first(Estimate& e, const Trace& trace, int steps) {
    const std::vector<Seconds> ends = ends_of(trace);
    GraphRank first = last_rank(trace);
    for (GraphRank r = 0; r < ends.size(); ++r)
        if (!trace.ranks[r].server && ends[r] < ends[first]) first = r;
    e.terms = per_step(terms_of(trace, first), steps);
    e.terms[Term::straggler] += e.step - trace.end / steps;
    e.overlapped = per_step(overlapped_of(trace, first), steps);
    e.slowest = e.terms;
}

// The estimate of the closed form, with everything that the played trace tells in its place.
Estimate with_trace(Estimate e, const SimulationReport& played, bool asynchronous) {
    const Trace& trace = played.trace;
    const Jitter& jitter = played.jitter;
    const std::vector<MemoryTimeline>& memory = played.memory;
    const int steps = played.steps;
    const GraphRank usual = usual_one(trace, jitter, awaited_by(trace, last_rank(trace)));
    e.step = step_time(trace, steps, asynchronous);
    e.terms = per_step(terms_of(trace, usual), steps);
    e.overlapped = per_step(overlapped_of(trace, usual), steps);
    e.last_stage = trace.ranks[usual].stage;
    const auto slowest = std::ranges::find_if(trace.ranks, [&](const TraceRank& r) { return !r.server && r.stage == e.slowest_stage; });
    e.slowest = per_step(terms_of(trace, usual_one(trace, jitter, static_cast<GraphRank>(slowest - trace.ranks.begin()))), steps);
    if (asynchronous) take_terms_of_the_first(e, trace, steps);
    e.peak_memory = {};
    for (std::size_t s = 0; s < memory.size(); ++s) {
        const MemoryTimeline& m = memory[s];
        e.peak_memory = max(e.peak_memory, m.peak());
        // The curve has what comes and goes in one: the parts of the closed form are scaled to its highest point.
        StageMemory& parts = e.memory[s];
        std::vector passing = {MemoryKind::activations, MemoryKind::logits};
        if (!(m.base[MemoryKind::gathered_weights] > Bytes{})) passing.push_back(MemoryKind::gathered_weights);
        Bytes sum;
        for (const MemoryKind k : passing) sum += parts[k];
        for (const MemoryKind k : passing) parts[k] = sum > Bytes{} ? parts[k] / sum * m.highest : Bytes{};
        if (!(sum > Bytes{})) parts[MemoryKind::activations] = m.highest;
        parts[MemoryKind::fragmentation] = m.base[MemoryKind::fragmentation];
    }
    return e;
}

// They are of the closed form, and what they gain is taken off the step that was played.
void scale_what_ifs(Bottleneck& b, double longer) {
    for (Mover& m : b.movers) m.step_at_double = longer * m.step_at_double;
    for (PricedSetting& s : b.settings) s.step = longer * s.step;
}

}  // namespace

Seconds step_time(const Trace& trace, int steps, bool asynchronous) {
    if (!asynchronous) return trace.end / steps;
    const std::vector<Seconds> ends = ends_of(trace);
    double workers = 0, ended = 0;  // by the time the last one has
    for (std::size_t r = 0; r < ends.size(); ++r)
        if (!trace.ranks[r].server) {
            workers += 1;
            ended += trace.end / ends[r];
        }
    return workers / ended * (trace.end / steps);
}

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
    r.memory = memory_timelines(r.trace, graph.segments(), table, always_held(predicted.memory, job.scenario()));
    for (MemoryTimeline& m : r.memory)
        m.base[MemoryKind::fragmentation] = fragmentation(job, m.stage, m.highest + m.base[MemoryKind::gathered_weights]);
    r.critical_path = critical_path(r.trace);
    const bool asynchronous = job.scenario().plan.is_asynchronous();
    if (asynchronous) r.staleness = staleness_of(graph, r.trace);
    r.graph = std::move(graph);
    r.report = make_report(job, with_trace(predicted, r, asynchronous));
    if (predicted.step > Seconds{}) scale_what_ifs(r.report.bottleneck, r.report.estimate.step / predicted.step);
    return r;
}

}  // namespace sextant
