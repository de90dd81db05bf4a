#include "model/report/comparison.hpp"

#include "model/base/quantity_text.hpp"
#include "model/report/slow_hosts.hpp"
#include "model/report/trace_terms.hpp"

#include <algorithm>

namespace sextant {
namespace {

constexpr Term communication_terms[] = {Term::tensor_communication, Term::context_communication, Term::expert_communication,
                                        Term::pipeline_communication, Term::data_communication};

RankTimes times_of(const Trace& trace, GraphRank rank, int steps) {
    RankTimes times;
    for (const Span& s : trace.spans)
        if (s.rank == rank) times.end = max(times.end, s.end / steps);
    times.terms = per_step(terms_of(trace, rank), steps);
    times.overlapped = per_step(overlapped_of(trace, rank), steps);
    return times;
}

// The rate of what is done once a step, from how long the steps take.
ComparedValue<Frequency> rates(Frequency predicted, const ComparedValue<Seconds>& step) {
    return {predicted, predicted * (step.predicted / step.simulated), predicted * (step.predicted / step.measured)};
}

// What a rank holds in arrays of its own; libraries and MPI hold the rest.
RankMemoryUse memory_of(const StageMemory& stage) {
    return {stage.total() - stage[MemoryKind::communication] - stage[MemoryKind::context], stage.total()};
}

std::vector<RankComparison> compare_ranks(const Comparison& c, const RunRecord& run) {
    std::vector<RankComparison> ranks;
    const std::vector<StageMemory>& stages = c.prediction.estimate.memory;
    for (GraphRank r = 0; r < run.trace.ranks.size(); ++r) {
        const TraceRank& is = run.trace.ranks[r];
        RankComparison& rank = ranks.emplace_back();
        rank.rank = is.rank;
        rank.stage = is.stage;
        rank.server = is.server;
        rank.host = is.host;
        rank.processor = run.ranks[r].processor;
        rank.simulated = times_of(c.simulation.trace, r, c.simulation.steps);
        rank.measured = times_of(run.trace, r, c.simulation.steps);
        if (!is.server) rank.predicted_memory = memory_of(stages[static_cast<std::size_t>(is.stage)]);
        rank.measured_memory = {run.ranks[r].peak_memory, run.ranks[r].peak_resident};
    }
    return ranks;
}

void compare_last_rank(Comparison& c) {
    const Estimate& e = c.prediction.estimate;
    c.stage = e.last_stage;
    const RankTimes& simulated = last_of_stage(c.ranks, c.stage, &RankComparison::simulated).simulated;
    const RankComparison& measured = last_of_stage(c.ranks, c.stage, &RankComparison::measured);
    c.measured_rank = measured.rank;
    c.terms = {e.terms, simulated.terms, measured.measured.terms};
    c.overlapped = {e.overlapped, simulated.overlapped, measured.measured.overlapped};
    const auto hidden = [&](const Terms& terms, const Terms& overlapped) -> std::optional<double> {
        const Seconds behind = communication_of(overlapped).total(), all = behind + communication_of(terms).total();
        return all > Seconds{} ? std::optional(behind / all) : std::nullopt;
    };
    c.hidden = {hidden(c.terms.predicted, c.overlapped.predicted), hidden(c.terms.simulated, c.overlapped.simulated),
                hidden(c.terms.measured, c.overlapped.measured)};
    const auto bubble = [](const Terms& t) { return t.total() > Seconds{} ? t[Term::bubble] / t.total() : 0; };
    c.bubble = {bubble(c.terms.predicted), bubble(c.terms.simulated), bubble(c.terms.measured)};
}

struct Sums {
    Bytes bytes;
    Flops flops;
    Seconds time;
};
EnumArray<SpanKind, Sums, span_kind_count> sums_of(const Trace& trace) {
    EnumArray<SpanKind, Sums, span_kind_count> sums;
    for (const Span& s : trace.spans) {
        Sums& of = sums[s.kind];
        of.bytes += s.bytes;
        of.flops += s.flops;
        of.time += s.end - s.start;
    }
    return sums;
}

void compare_rates(Comparison& c, const RunRecord& run) {
    const auto simulated = sums_of(c.simulation.trace), measured = sums_of(run.trace);
    for (const SpanKind kind : all_span_kinds) {
        const Sums &s = simulated[kind], &m = measured[kind];
        if (!(s.time > Seconds{}) || !(m.time > Seconds{})) continue;
        if (runs_kernels(kind) && m.flops > Flops{})
            c.kernels.push_back({kind, s.flops / s.time, m.flops / m.time});
        else if (!runs_kernels(kind) && m.bytes > Bytes{} && s.bytes > Bytes{})
            c.exchanges.push_back({kind, m.bytes, s.bytes / s.time, m.bytes / m.time});
    }
}

std::optional<MeanStaleness> compare_staleness(const SimulationReport& simulation, const RunRecord& run) {
    if (!simulation.staleness || !run.servers) return std::nullopt;
    double steps = 0, sum = 0;
    for (std::size_t stale = 0; stale < run.servers->staleness.size(); ++stale) {
        steps += run.servers->staleness[stale];
        sum += static_cast<double>(stale) * run.servers->staleness[stale];
    }
    return MeanStaleness{simulation.staleness->mean, steps > 0 ? sum / steps : 0};
}

std::optional<InputComparison> compare_input(const Report& prediction, const RunRecord& run) {
    if (!run.dataset) return {};
    InputComparison c;
    if (prediction.input) {
        c.predicted = true;
        // A run is seldom longer than an epoch or two, and what it reads was often read before: what of it comes from memory, later epochs
        // say.
        c.predicted_reading = prediction.input->later.reading;
        c.predicted_decoding = prediction.input->later.work;
        c.predicted_staging = prediction.input->staging.after(static_cast<double>(run.steps.size()) * prediction.estimate.step).total();
    }
    const double loaded = std::max(1.0, run.dataset->loaded);
    c.reading = run.dataset->reading / loaded;
    c.decoding = run.dataset->decoding / loaded;
    c.staging = run.dataset->staging();
    c.skipped = run.dataset->skipped;
    return c;
}

Flops flops_of(const Trace& trace) {
    Flops sum;
    for (const Span& s : trace.spans) sum += s.flops;
    return sum;
}

// A profile that was measured belongs to the machine on which it was.
std::optional<std::string> other_machine(const CalibrationStamp& calibration, const RunRecord& run) {
    if (calibration.host.empty()) return std::nullopt;
    const std::string measured = calibration.host + " (" + calibration.processor + ")";
    for (const RankEnvironment& r : run.ranks)
        if (r.processor != calibration.processor)
            return "the profile was measured on " + measured + ", rank " + std::to_string(r.rank) + " ran on " + r.host + " (" +
                   r.processor + "): another processor";
    return std::nullopt;
}

// What the prediction would be if experts were loaded as in the run. None where the scenario has about that load, or where experts are
// padded to the same size whatever their load.
std::optional<std::string> uneven_load(Scenario s, const Comparison& c, const RunRecord& run) {
    auto* network = std::get_if<TransformerSpec>(&s.workload.spec);
    if (network == nullptr || !network->moe || run.expert_rank_imbalance.empty()) return std::nullopt;
    if (s.workload.pads_experts()) return std::nullopt;
    constexpr double alike = 0.05;
    const double measured = run.expert_rank_imbalance[static_cast<std::size_t>(run.traced_step)];
    if (std::fabs(measured / network->moe->imbalance - 1) < alike) return std::nullopt;
    network->moe->imbalance = measured;
    const Seconds step = estimate(prepare(s)).step;
    return "the rank with most rows for its experts had " + number_text(measured, 3) +
           " times the mean: with \"imbalance\": " + number_text(measured, 3) + " in the workload's moe " + to_text(step) +
           " are predicted, of which " + number_text(c.step.measured / step, 3) + " times were measured";
}

std::vector<std::string> notes_on(const Comparison& c, const Scenario& scenario, const RunRecord& run) {
    const Cluster& cluster = scenario.cluster;
    std::vector<std::string> notes;
    if (auto note = uneven_load(scenario, c, run)) notes.push_back(std::move(*note));
    if (cluster.calibration)
        if (auto note = other_machine(*cluster.calibration, run)) notes.push_back(std::move(*note));
    if (const auto slow = find_slow_host(c.simulation.trace, run.trace))
        notes.push_back("host " + slow->host + (slow->computes ? " computes " : " communicates ") + number_text(slow->times, 2) +
                        " times slower than the others" + (slow->computes ? "" : ": its link, or the path to it"));
    if (!c.steps.first) notes.emplace_back("what was measured includes allocating memory and preparing kernels: run more steps");
    // Both count what the mathematics needs. Other shapes have the same names of works.
    constexpr double alike = 0.1;
    const Flops simulated = flops_of(c.simulation.trace), measured = flops_of(run.trace);
    if (simulated > Flops{} && std::fabs(measured / simulated - 1) > alike)
        notes.push_back("the run computed " + to_text(measured) + " in a step where the scenario asks for " + to_text(simulated) +
                        ": was it made with another workload or batch?");
    constexpr double noticeable = 0.02;
    const auto last = std::ranges::max_element(c.ranks, {}, [](const RankComparison& r) { return r.server ? Seconds{} : r.measured.end; });
    const Seconds end = last_of_stage(c.ranks, c.stage, &RankComparison::measured).measured.end;
    if (last->measured.end - end > noticeable * end)
        notes.push_back("in the run stage " + std::to_string(last->stage) + " finished last, not stage " + std::to_string(c.stage) +
                        " as predicted; the terms are of stage " + std::to_string(c.stage));
    if (run.scenario != c.prediction.scenario) notes.push_back("the run was made of a scenario with the name \"" + run.scenario + "\"");
    return notes;
}

// A walk through the graph lasts until the last worker's end, whom the others do not wait for.
Seconds measured_step(Seconds median, const RunRecord& run, int steps, bool asynchronous) {
    return asynchronous ? step_time(run.trace, steps, true) / (run.trace.end / steps) * median : median;
}

}  // namespace

Comparison compare(const Prepared& job, SimulationReport simulation, const RunRecord& run) {
    check_same_plan(simulation.graph, job.scenario(), run);
    Comparison c;
    c.prediction = make_report(job);
    c.simulation = std::move(simulation);
    c.steps = step_times(run.steps, static_cast<std::size_t>(c.simulation.steps));  // the first walk allocates memory and prepares kernels
    c.step = {c.prediction.estimate.step, c.simulation.report.estimate.step,
              measured_step(c.steps.median, run, c.simulation.steps, job.scenario().plan.is_asynchronous())};
    c.samples_per_s = rates(c.prediction.samples_per_s, c.step);
    if (c.prediction.tokens_per_s) c.tokens_per_s = rates(*c.prediction.tokens_per_s, c.step);
    if (!run.losses.empty()) {
        c.first_loss = run.losses.front();
        c.last_loss = run.losses.back();
    }
    c.traced_step = run.trace.end / c.simulation.steps;
    c.ranks = compare_ranks(c, run);
    compare_last_rank(c);
    compare_rates(c, run);
    c.operators = compare_operators(job, run);
    c.input = compare_input(c.prediction, run);
    c.staleness = compare_staleness(c.simulation, run);
    c.residual = find_term_residual(job, c);
    c.memory_residual = find_memory_residual(job, c);
    c.notes = notes_on(c, job.scenario(), run);
    return c;
}

const RankComparison& last_of_stage(const std::vector<RankComparison>& ranks, int stage, RankTimes RankComparison::*times) {
    const RankComparison* last = nullptr;
    for (const RankComparison& r : ranks)
        if (!r.server && r.stage == stage && (!last || (r.*times).end > (last->*times).end)) last = &r;
    return *last;
}

std::optional<double> ratio(double measured, double predicted) {
    return predicted > 0 ? std::optional(measured / predicted) : std::nullopt;
}

Terms communication_of(const Terms& terms) {
    Terms only;
    for (const Term t : communication_terms) only[t] = terms[t];
    return only;
}
Seconds waiting_of(const Terms& t) { return t[Term::bubble] + t[Term::straggler]; }
Seconds computing_of(const Terms& t) { return t[Term::forward] + t[Term::backward] + t[Term::recompute] + t[Term::optimizer]; }

StepTimes step_times(std::vector<Seconds> times, std::size_t preparing) {
    StepTimes t;
    t.count = static_cast<int>(times.size());
    if (preparing > 0 && times.size() > preparing) {
        t.first = times.front();
        times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(preparing));
    }
    std::ranges::sort(times);
    t.fastest = times.front();
    t.slowest = times.back();
    t.median = times[(times.size() - 1) / 2];  // a step that was, and whose trace is kept: the lesser of two in the middle
    return t;
}

void add_term_quantities(std::vector<NamedQuantity>& list, const Terms& predicted, const Terms& measured) {
    for (const Term t : all_terms) {
        const std::string name(to_text(t));
        list.emplace_back("terms." + name, measured[t]);
        list.emplace_back("residual." + name, measured[t] - predicted[t]);
        // What nobody predicted is beyond any multiple of it; nothing is as much as nothing.
        const double without = measured[t] > Seconds{} ? std::numeric_limits<double>::infinity() : 1;
        list.emplace_back("ratio." + name, ratio(measured[t].si(), predicted[t].si()).value_or(without));
    }
}

std::vector<NamedQuantity> named_quantities(const Comparison& c) {
    const auto share = [](const Terms& part, const Terms& all) { return all.total() > Seconds{} ? part.total() / all.total() : 0; };
    std::vector<NamedQuantity> list = {{"step_time", c.step.measured},
                                       {"predicted_step_time", c.step.predicted},
                                       {"simulated_step_time", c.step.simulated},
                                       {"step_time_ratio", c.step.measured / c.step.predicted},
                                       {"samples_per_s", c.samples_per_s.measured},
                                       {"largest_residual", max(c.residual.seconds, -c.residual.seconds)},
                                       {"largest_residual_share", c.residual.share},
                                       {"bubble", c.bubble.measured},
                                       {"communication_share", share(communication_of(c.terms.measured), c.terms.measured)},
                                       {"predicted_communication_share", share(communication_of(c.terms.predicted), c.terms.predicted)}};
    Bytes arrays, process;
    for (const RankComparison& r : c.ranks) {
        arrays = max(arrays, r.measured_memory.arrays);
        process = max(process, r.measured_memory.process);
    }
    list.emplace_back("memory_arrays", arrays);
    list.emplace_back("memory_process", process);
    if (c.tokens_per_s) list.emplace_back("tokens_per_s", c.tokens_per_s->measured);
    if (c.hidden.measured) list.emplace_back("hidden", *c.hidden.measured);
    if (c.staleness) list.emplace_back("staleness", c.staleness->measured);
    // A loss that diverged is above every bound.
    if (c.last_loss) list.emplace_back("last_loss", std::isfinite(*c.last_loss) ? *c.last_loss : std::numeric_limits<double>::infinity());
    add_term_quantities(list, c.terms.predicted, c.terms.measured);
    return list;
}

std::vector<NamedQuantity> comparable_quantities(const Scenario& s) {
    Comparison any;
    if (s.workload.tokens_per_sample() > 0) any.tokens_per_s.emplace();
    if (s.plan.is_asynchronous()) any.staleness.emplace();
    any.hidden.measured = 0;
    any.last_loss = 0;
    return named_quantities(any);
}

}  // namespace sextant
